"""One picture per table: every method's mean with its interval, what was printed, the control."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from fairsmooth._palette import COLOURS, STYLE
from fairsmooth.experiments import (
    ENCODINGS,
    MAIN_METRICS,
    PUBLISHED,
    TUNED,
    Experiment,
    estimate,
    in_order,
    label_of,
    margin_of,
    read_printed,
)
from fairsmooth.reporting.reproduction_words import TRACKS, case_name, columns_name, measure_name

CONTROL, OURS = "unconstrained", "fairsmooth"
_STYLE: Any = {**STYLE, "font.size": 10}
_COLOUR = dict(zip(ENCODINGS, (COLOURS[1], COLOURS[0]), strict=True))
# Above and below the line of the method, on which the printed number stands.
_OFFSET = dict(zip(ENCODINGS, (0.2, -0.2), strict=True))
_MARK = {TUNED: ("o", 5.5), PUBLISHED: ("x", 5.5)}
_BAND, _PRINTED = "#eef2f7", "#222222"
_WIDTH, _LINE = 10.0, 0.36


@dataclass(frozen=True)
class _Dot:
    """The mean of a method in one panel; the interval is infinite with one trial."""

    method: str
    encoding: str
    track: str
    value: float
    half_width: float


def table_figure(experiment: Experiment, rows: pd.DataFrame) -> Figure | None:
    """Draw cases down and measures across; None for what is no table of methods or has not run."""
    printed = read_printed(experiment.printed)
    if experiment.kind != "fit" or experiment.sweep or printed.empty or rows.empty:
        return None
    done = rows[rows["status"] == "done"]
    cases = list(dict.fromkeys([*experiment.cases, *done["case"]]))
    metrics = [name for name in experiment.metrics if name in MAIN_METRICS or name in printed]
    methods = _methods([*done["method"], *printed["method"]])
    with mpl.rc_context(_STYLE):
        height = len(cases) * (_LINE * len(methods) + 0.75) + 0.6
        figure = Figure(figsize=(_WIDTH, height), layout=ConstrainedLayoutEngine(hspace=0.05))
        panels = figure.subplots(len(cases), len(metrics), sharey=True, squeeze=False)
        for line, case in zip(panels, cases, strict=True):
            for axes, metric in zip(line, metrics, strict=True):
                dots = list(_dots(done[done["case"] == case], metric))
                shown = _printed_of(printed[printed["case"] == case], metric)
                _panel(axes, dots, shown, methods, metric)
                title = f"{case_name(case)}: {measure_name(metric)}"
                axes.set_title(title, loc="left", fontsize=10, parse_math=False)
        _legend(figure, experiment)
    return figure


def _methods(names: Sequence[str]) -> list[str]:
    """Return the methods from top to bottom: ours and its relatives, then the others."""
    present = [name for name in in_order(names) if name != CONTROL]
    own = [name for name in present if name.startswith(OURS)]
    own.sort(key=lambda name: name != OURS)
    return [*own, *(name for name in present if name not in own)]


def _dots(rows: pd.DataFrame, metric: str) -> Iterator[_Dot]:
    if metric not in rows:
        return
    known = rows[rows[metric].notna()]
    for (method, encoding, track), part in known.groupby(["method", "encoding", "track"]):
        found = estimate(part[metric])
        yield _Dot(str(method), str(encoding), str(track), found.value, found.half_width)


def _printed_of(printed: pd.DataFrame, metric: str) -> dict[str, float]:
    if metric not in printed:
        return {}
    known = printed[printed[metric].notna()]
    return dict(zip(known["method"], known[metric], strict=True))


def _panel(
    axes: Axes,
    dots: Sequence[_Dot],
    printed: dict[str, float],
    methods: Sequence[str],
    metric: str,
) -> None:
    places = {name: len(methods) - 1 - line for line, name in enumerate(methods)}
    if OURS in places:
        axes.axhspan(places[OURS] - 0.5, places[OURS] + 0.5, color=_BAND, linewidth=0, zorder=0)
    # Distances and certificates differ by orders of magnitude.
    logarithmic = margin_of(metric) == 0.0
    if logarithmic:
        axes.set_xscale("log")
    for dot in dots:
        if dot.method == CONTROL:
            if dot.track == TUNED:
                axes.axvline(
                    dot.value, color=_COLOUR[dot.encoding], linewidth=1.1, linestyle=(0, (4, 2))
                )
        elif dot.encoding in _OFFSET:
            _mark(axes, dot, places[dot.method] + _OFFSET[dot.encoding])
    axes.plot(
        list(printed.values()), [places[name] for name in printed], "D", markersize=5.5,
        markerfacecolor="white", markeredgecolor=_PRINTED, markeredgewidth=1.2, zorder=4,
    )  # fmt: skip
    values = [*(dot.value for dot in dots), *printed.values()]
    _frame(axes, values, metric, logarithmic=logarithmic)
    if not logarithmic:
        _far_away(axes, printed, places, reach_of(values))
    axes.set_yticks(
        list(places.values()), [fill(label_of(name), 20) for name in places], parse_math=False
    )
    axes.set_ylim(-0.6, len(methods) - 0.4)


def _mark(axes: Axes, dot: _Dot, place: float) -> None:
    colour = _COLOUR[dot.encoding]
    mark, size = _MARK[dot.track]
    if math.isfinite(dot.half_width):
        low, high = dot.value - dot.half_width, dot.value + dot.half_width
        alpha = 0.5 if dot.track == TUNED else 0.3
        axes.plot([low, high], [place, place], color=colour, linewidth=2.2, alpha=alpha, zorder=2)
    axes.plot(
        [dot.value], [place], mark, color=colour, markersize=size, markeredgewidth=1.4, zorder=3
    )


def reach_of(values: Sequence[float]) -> float:
    """Return the largest value, or the second if the largest is more than twice as far.

    Examples
    --------
    >>> reach_of([0.1, 0.35, 1.19]), reach_of([0.1, 0.2])
    (0.35, 0.2)
    """
    *_, second, first = sorted([0.0, 0.0, *values])
    return second if first > 2.0 * second > 0.0 else first


def _far_away(axes: Axes, printed: dict[str, float], places: dict[str, int], reach: float) -> None:
    """Write at the edge what would press everything else together."""
    for name, value in printed.items():
        if value > reach:
            axes.annotate(
                f"{value:g} ▸", (1.0, places[name]), xycoords=("axes fraction", "data"),
                ha="right", va="center", fontsize=9, color=_PRINTED,
            )  # fmt: skip


def _frame(axes: Axes, values: Sequence[float], metric: str, *, logarithmic: bool) -> None:
    """Frame the means and what was printed: a wide interval may leave the frame."""
    known = [value for value in values if value > 0.0 or not logarithmic]
    if known:
        low, high = min(known), max(known) if logarithmic else reach_of(known)
        if logarithmic:
            axes.set_xlim(low / 1.6, high * 1.6)
        else:
            room = 0.06 * max(high - low, 0.02)
            axes.set_xlim(low - room if metric == MAIN_METRICS[0] else min(0.0, low) - 0.005,
                          high + room)  # fmt: skip
    if logarithmic:
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    axes.grid(axis="x", color="#e6e6e6", linewidth=0.7)
    axes.tick_params(axis="y", length=0)
    axes.set_axisbelow(True)


def _legend(figure: Figure, experiment: Experiment) -> None:
    """Name every mark, both sources of columns in one column of names."""
    several = len(experiment.tracks) > 1
    handles = []
    for track in experiment.tracks:
        mark, size = _MARK[track]
        for encoding, colour in _COLOUR.items():
            words = f"{columns_name(encoding)}{f', {TRACKS[track]}' if several else ''}"
            handles.append(
                Line2D([], [], color=colour, marker=mark, markersize=size, linewidth=2.2,
                       alpha=0.8, label=words)
            )  # fmt: skip
    for encoding, colour in _COLOUR.items():
        words = f"control, {columns_name(encoding)}"
        handles.append(Line2D([], [], color=colour, linestyle=(0, (4, 2)), label=words))
    handles.append(
        Line2D([], [], linestyle="", marker="D", markerfacecolor="white",
               markeredgecolor=_PRINTED, label="printed in the paper")
    )  # fmt: skip
    # Two lines: every pair of columns one below the other, the printed ones last.
    ncols = len(experiment.tracks) + 2
    figure.legend(
        handles=handles, loc="outside upper left", ncols=ncols, frameon=False, fontsize=9.5
    )
