"""One function per kind of plot, each returning a figure."""

import io
import re
import warnings
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairsmooth._palette import COLOURS as COLOURS
from fairsmooth._palette import STYLE as _STYLE


def intervals(
    labels: Sequence[str],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    *,
    title: str,
    marks: Sequence[float | None] = (),
    mark_label: str = "",
) -> Figure:
    """Draw one horizontal interval per label, with an optional mark such as a bound."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 0.8 + 0.38 * len(labels)), layout="constrained")
        axes: Axes = figure.subplots()
        places = list(range(len(labels)))[::-1]
        axes.hlines(places, lows, highs, color=COLOURS[0], linewidth=3, alpha=0.45)
        axes.plot(values, places, "o", color=COLOURS[0], markersize=6, label="measured")
        chosen = [
            (mark, place) for mark, place in zip(marks, places, strict=False) if mark is not None
        ]
        if chosen:
            axes.plot(
                [mark for mark, _ in chosen],
                [place for _, place in chosen],
                "|",
                color=COLOURS[1],
                markersize=14,
                markeredgewidth=2.5,
                label=mark_label,
            )
            axes.legend(frameon=False, loc="best", fontsize=9)
        axes.set_yticks(places, labels, parse_math=False)
        axes.set_ylim(-0.6, len(labels) - 0.4)
        axes.set_xlim(left=0.0)
        axes.set_title(title, loc="left", fontsize=10.5, parse_math=False)
        axes.grid(axis="x", color="#dddddd", linewidth=0.7)
        axes.set_axisbelow(True)
    return figure


def shift_panels(curves: Mapping[str, pd.DataFrame], *, title: str) -> Figure:
    """Draw one small panel per shift: the value, what is guaranteed there, and a reference."""
    with mpl.rc_context(_STYLE):
        n_columns = min(3, len(curves))
        n_rows = -(-len(curves) // n_columns)
        figure = Figure(figsize=(3.1 * n_columns, 0.5 + 2.3 * n_rows), layout="constrained")
        panels = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False).ravel()
        for axes, (name, points) in zip(panels, curves.items(), strict=False):
            _shift_panel(axes, name, points.sort_values("strength"))
        for axes in panels[len(curves) :]:
            axes.set_visible(False)
        panels[0].set_ylim(bottom=0.0)
        figure.suptitle(title, x=0.01, ha="left", fontsize=10.5, parse_math=False)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=3, frameon=False, fontsize=9)
    return figure


def _shift_panel(axes: Axes, name: str, points: pd.DataFrame) -> None:
    strength = points["strength"]
    if points["low"].notna().all():
        axes.fill_between(
            strength, points["low"], points["high"], color=COLOURS[0], alpha=0.2, linewidth=0,
            label="guaranteed",
        )  # fmt: skip
    axes.plot(strength, points["value"], color=COLOURS[0], marker="o", markersize=3, label="model")
    if points["reference"].notna().all():
        axes.plot(
            strength, points["reference"], color=COLOURS[1], linestyle="--", label="unconstrained"
        )
    # Names come from the user's table: a dollar sign there begins no formula.
    shown = name if len(name) <= 38 else name[:37] + "…"
    axes.set_title(shown, fontsize=8.5, loc="left", parse_math=False)
    axes.tick_params(labelsize=8)
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)


def over_time(
    dates: Sequence[str],
    measured: Sequence[float | None],
    bounds: Sequence[float],
    *,
    limit: float,
    name: str,
    ratio: bool = False,
) -> Figure:
    """Draw what was measured and what is bounded after every batch, with the limit."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 3.0), layout="constrained")
        axes: Axes = figure.subplots()
        batches = list(range(1, len(dates) + 1))
        values = [float("nan") if value is None else value for value in measured]
        side = "at least" if ratio else "at most"
        axes.plot(batches, values, "o-", color=COLOURS[0], markersize=4, label="measured")
        axes.plot(batches, bounds, "s--", color=COLOURS[1], markersize=4, label=f"surely {side}")
        axes.axhline(limit, color=COLOURS[4], linewidth=1.5, label=f"limit {limit:g}")
        # Early bounds are near the worst there is; they must not flatten what matters.
        known = [value for value in measured if value is not None]
        axes.set_ylim(
            0.0, 1.02 if ratio else max(0.01, 2.5 * limit, 1.25 * max(known, default=0.0))
        )
        ticks = batches[:: -(-len(batches) // 8)]
        labels = [f"{batch}\n{dates[batch - 1]}" for batch in ticks]
        axes.set_xticks(ticks, labels, fontsize=8, parse_math=False)
        axes.set_xlim(0.5, len(batches) + 0.5)
        axes.set_xlabel("batch and its date")
        axes.set_ylabel(name)
        axes.grid(axis="y", color="#dddddd", linewidth=0.7)
        axes.set_axisbelow(True)
        figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize=9)
    return figure


def as_svg(figure: Figure, name: str = "") -> str:
    """Return a figure as an SVG element that an HTML page can hold, several under other names."""
    buffer = io.StringIO()
    # Ids are unique within a page: those of parts that others refer to are hashed with the name.
    salt = {"svg.hashsalt": f"{_STYLE['svg.hashsalt']}{name}"}
    with mpl.rc_context(_STYLE | salt), warnings.catch_warnings():
        # The reader's own font draws the text; ours may lack a letter when measuring it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return re.sub(r'<g id="[^"]*"', "<g", text[text.index("<svg") :])
