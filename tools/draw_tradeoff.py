"""Draw the trade-off's picture from its committed results; nothing is computed again."""

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairsmooth.experiments.beyond.tradeoff import CEILING, LIMITS, OURS, REDUCTION, sighted
from fairsmooth.reporting.figures import COLOURS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "tradeoff.json"
PICTURE = ROOT / "docs" / "images" / "tradeoff.png"
# Gaps beyond this multiple of their limits are not shown.
WIDEST = 3.5

Row = dict[str, Any]


def figure(rows: list[Row]) -> Figure:
    """Draw four panels: fronts of ours and of the swept reduction, ceilings, majority."""
    style: Any = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    with mpl.rc_context(style):
        drawn = Figure(figsize=(10.0, 7.2), layout="constrained")
        panels = drawn.subplots(2, 2).ravel()
        for axes, (case, limits) in zip(panels, LIMITS.items(), strict=True):
            name = case.replace("-", " ")
            _panel(axes, _of(rows, name), limits)
            allowed = " and ".join(f"{limit:g}" for limit in limits.values())
            axes.set_title(f"{name}: limits on ΔDP and ΔEO {allowed}", loc="left", fontsize=10)
        handles, labels = panels[0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return drawn


def _of(rows: list[Row], setting: str) -> list[Row]:
    return [row for row in rows if row["setting"] == setting and "method" in row]


def _panel(axes: Axes, rows: list[Row], limits: dict[str, float]) -> None:
    for told in (False, True):
        line: Any = {"linestyle": "--" if told else "-", "linewidth": 1.4}
        for method, colour, marker in ((OURS, COLOURS[0], "o"), (REDUCTION, COLOURS[1], "s")):
            name = sighted(method, told=told)
            own = [row for row in rows if row["method"] == name]
            swept = [(_used(row, limits), row["accuracy"]) for row in own if "axis" in row]
            shown = {"color": colour, "marker": marker}
            filling = "none" if told else colour
            axes.plot(*_front(swept), **line, **shown, markersize=3.5, mfc=filling, label=name)
            for row in (row for row in own if "axis" not in row):
                place = _used(row, limits), row["accuracy"]
                axes.plot(*place, **shown, markersize=11, mfc=filling, mew=1.8, linestyle="")
        for row in (row for row in rows if row["method"] == sighted(CEILING, told=told)):
            axes.plot(
                1.0, row["accuracy"], marker="v" if told else "^", color=COLOURS[2],
                markersize=9, linestyle="", mfc="none" if told else COLOURS[2],
                label=row["method"],
            )  # fmt: skip
    for row in (row for row in rows if row["method"] == "majority"):
        axes.axhline(
            row["accuracy"], color=COLOURS[4], linewidth=1, linestyle=":", label="majority"
        )
    axes.axvline(1.0, color="#bbbbbb", linewidth=1, zorder=0)
    axes.set_xlim(0.0, WIDEST)
    axes.set_xlabel("larger of ΔDP and ΔEO, in units of its limit")
    axes.set_ylabel("accuracy on the test part")
    axes.grid(color="#eeeeee", linewidth=0.7)
    axes.set_axisbelow(True)


def _used(row: Row, limits: dict[str, float]) -> float:
    """Return the larger gap as a multiple of its limit."""
    return max(row[name] / limit for name, limit in limits.items())


def _front(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Return the points that none with smaller gaps beats, by gap."""
    kept: list[tuple[float, float]] = []
    for gap, accuracy in sorted(points):
        if not kept or accuracy > kept[-1][1]:
            kept.append((gap, accuracy))
    x, y = np.array(kept).reshape(-1, 2).T
    return x.tolist(), y.tolist()


if __name__ == "__main__":
    found = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    figure(found).savefig(PICTURE, dpi=110)
