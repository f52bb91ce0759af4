"""Curves of the experiments in the paper's layout, with bands of one standard error."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from fairsmooth._palette import COLOURS, STYLE
from fairsmooth.experiments import (
    MAIN_METRICS,
    Experiment,
    in_order,
    label_of,
    standard_error,
)
from fairsmooth.reporting.reproduction_words import case_name, measure_name

_STYLE: Any = {**STYLE, "font.size": 9.5}
_AXES = {
    "partition": "share of the test rows",
    "group_ratio": "share of the group in training",
    "sigma": "σ",
    "alpha": "α",
    "n_draws": "weight draws N",
}
# FairSmooth and its variants stand out; the others have thin pale lines, told apart by marks too.
_FOREGROUND = {
    "fairsmooth": COLOURS[0],
    "fairsmooth_s": COLOURS[2],
    "fairsmooth_d": COLOURS[3],
    "fairsmooth_parity": COLOURS[1],
    "unconstrained": "#222222",
}
_MARKS = "os^vD<>ph"
_PALE = (
    "#b58900", "#7a9a3a", "#5aa7a7", "#9c6fb0", "#c77d7d",
    "#7f8fa6", "#b08c6a", "#6fae8c", "#a0a0a0",
)  # fmt: skip
_PERCENT = ("partition", "group_ratio")
_LOGARITHMIC = ("alpha",)


def draw(experiment: Experiment, rows: pd.DataFrame) -> Figure | None:
    """Draw the rows of one encoding as the paper lays its figure out; None if there is no curve."""
    if not experiment.sweep or rows.empty:
        return None
    if experiment.kind == "draws":
        return draws_figure(rows)
    if len(experiment.sweep) > 1:
        return parameter_figure(rows, tuple(experiment.sweep))
    return method_figure(rows, list(dict.fromkeys([*experiment.cases, *rows["case"]])))


def method_figure(rows: pd.DataFrame, cases: Sequence[str]) -> Figure:
    """Draw one panel per measure, and one line of panels per case; a curve per method."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(11.0, 3.1 * len(cases) + 0.9), layout="constrained")
        panels = figure.subplots(len(cases), len(MAIN_METRICS), squeeze=False)
        for line, case in zip(panels, cases, strict=True):
            for axes, metric in zip(line, MAIN_METRICS, strict=True):
                _method_panel(axes, rows[rows["case"] == case], metric)
                axes.set_title(
                    f"{case_name(case)}: {measure_name(metric)}", loc="left", fontsize=10
                )
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside lower center", ncols=5, frameon=False, fontsize=8.5
        )
    return figure


def parameter_figure(rows: pd.DataFrame, sweeps: Sequence[str]) -> Figure:
    """Draw one panel per parameter, a curve per measure, and the certificate below them."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(9.0, 4.8), layout="constrained")
        panels = figure.subplots(2, len(sweeps), squeeze=False, height_ratios=(3, 2))
        for column, axis in enumerate(sweeps):
            chosen = rows[rows["axis"] == axis]
            for colour, metric in zip(COLOURS, MAIN_METRICS, strict=False):
                _curve(panels[0][column], chosen, metric, label=measure_name(metric), colour=colour)
            _curve(panels[1][column], chosen, "epsilon", label="certificate", colour=COLOURS[3])
            panels[1][column].set_xlabel(_AXES[axis])
            if axis in _LOGARITHMIC:
                for axes in (panels[0][column], panels[1][column]):
                    axes.set_xscale("log")
        for axes in panels.flat:
            _grid(axes)
            axes.set_ylim(bottom=0.0)
        for line in panels:
            line[0].legend(frameon=False, fontsize=8.5)
    return figure


def draws_figure(rows: pd.DataFrame) -> Figure:
    """Draw error and seconds against the number of draws, both on logarithmic scales."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(9.0, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        panels = ((left, "largest_error", "largest error"), (right, "slowdown", "times exact"))
        for axes, metric, title in panels:
            for colour, (key, part) in zip(COLOURS, rows.groupby(["case", "method"]), strict=False):
                label = f"{case_name(str(key[0]))}, {key[1]}"
                _curve(axes, part, metric, label=label, colour=colour)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_title(title, loc="left", fontsize=10)
            axes.set_xlabel(_AXES["n_draws"])
            _grid(axes)
        right.axhline(1.0, color="#888888", linewidth=1, linestyle="--")
        left.legend(frameon=False, fontsize=8.5)
    return figure


def _method_panel(axes: Axes, rows: pd.DataFrame, metric: str) -> None:
    present = in_order(rows["method"])
    background = [name for name in present if name not in _FOREGROUND]
    for name in present:
        stands_out = name in _FOREGROUND
        place = 0 if stands_out else background.index(name) % len(_MARKS)
        _curve(
            axes,
            rows[rows["method"] == name],
            metric,
            label=label_of(name),
            colour=_FOREGROUND.get(name, _PALE[place]),
            mark="" if stands_out else _MARKS[place],
            width=2.2 if stands_out else 1.0,
        )
    axis = str(rows["axis"].iloc[0]) if len(rows) else ""
    axes.set_xlabel(_AXES.get(axis, axis))
    if axis in _PERCENT:
        axes.xaxis.set_major_formatter(PercentFormatter(xmax=1.0, decimals=0))
    _grid(axes)


def _curve(
    axes: Axes,
    rows: pd.DataFrame,
    metric: str,
    *,
    label: str,
    colour: str,
    mark: str = "o",
    width: float = 1.6,
) -> None:
    if metric not in rows or rows[metric].notna().sum() == 0:
        return
    known = rows[rows[metric].notna()].groupby("value")[metric]
    means, errors = known.mean(), known.apply(standard_error).fillna(0.0)
    places = means.index.to_numpy(dtype=np.float64)
    axes.plot(
        places, means, marker=mark, markersize=3.5, linewidth=width, color=colour, label=label
    )
    axes.fill_between(places, means - errors, means + errors, color=colour, alpha=0.15, linewidth=0)


def _grid(axes: Axes) -> None:
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
