"""Draw the trade-off's picture from its committed results; nothing is computed again."""

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairsmooth.experiments.beyond.tradeoff import (
    ACCURACY,
    CEILING,
    LIMITS,
    OURS,
    REDUCTION,
    sighted,
)
from fairsmooth.reporting.figures import COLOURS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "tradeoff.json"
PICTURE = ROOT / "docs" / "images" / "tradeoff.png"
# Gaps beyond this multiple of their limits are not shown.
WIDEST = 3.5
THRESHOLDS = ("ThresholdOptimizer DP", "ThresholdOptimizer EO")
# Of the height of a panel, left free above and below what it shows.
MARGIN = 0.08

Row = dict[str, Any]


def figure(rows: list[Row]) -> Figure:
    """Draw four panels: fronts of ours and of the swept reduction, goals, ceilings, majority."""
    style: Any = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    with mpl.rc_context(style):
        drawn = Figure(figsize=(10.0, 7.6), layout="constrained")
        panels = drawn.subplots(2, 2).ravel()
        for axes, (case, limits) in zip(panels, LIMITS.items(), strict=True):
            name = case.replace("-", " ")
            _panel(axes, _of(rows, name), limits, ACCURACY[case])
            allowed = " and ".join(f"{limit:g}" for limit in limits.values())
            axes.set_title(f"{name}: limits on ΔDP and ΔEO {allowed}", loc="left", fontsize=10)
        named: dict[str, Any] = {}
        for axes in panels:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                named.setdefault(label, handle)
        drawn.legend(
            named.values(), named, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5
        )
    return drawn


def _of(rows: list[Row], setting: str) -> list[Row]:
    return [row for row in rows if row["setting"] == setting and "method" in row]


def _panel(
    axes: Axes, rows: list[Row], limits: dict[str, float], goals: tuple[float | None, float]
) -> None:
    axes.axvspan(0.0, 1.0, color="#f1f6ee", zorder=0)
    for told in (False, True):
        for method, colour, marker in ((OURS, COLOURS[0], "o"), (REDUCTION, COLOURS[1], "s")):
            _method(axes, rows, sighted(method, told=told), limits, (colour, marker, told))
        for row in (row for row in rows if row["method"] == sighted(CEILING, told=told)):
            axes.plot(
                1.0, row["accuracy"], marker="v" if told else "^", color=COLOURS[2],
                markersize=8, linestyle="", mfc="none" if told else COLOURS[2],
                label=row["method"],
            )  # fmt: skip
        goal = goals[told]
        if goal is not None:
            line = "--" if told else "-"
            name = sighted("goal of FairSmooth", told=told)
            axes.plot([0.0, 1.0], [goal, goal], color="#777777", lw=1, linestyle=line, label=name)
    for method, marker in zip(THRESHOLDS, ("D", "P"), strict=True):
        for row in (row for row in rows if row["method"] == sighted(method, told=True)):
            place = _used(row, limits), row["accuracy"]
            axes.plot(
                *place, marker=marker, color=COLOURS[3], mfc="none", linestyle="",
                markersize=7, label=row["method"],
            )  # fmt: skip
    _frame(axes, rows)


def _method(
    axes: Axes, rows: list[Row], name: str, limits: dict[str, float], look: tuple[str, str, bool]
) -> None:
    """Draw the front of a method's candidates, and with standard errors what was chosen."""
    colour, marker, told = look
    shown: Any = {"color": colour, "marker": marker, "mfc": "white" if told else colour}
    own = [row for row in rows if row["method"] == name]
    swept = [(_used(row, limits), row["accuracy"]) for row in own if "axis" in row]
    line = "--" if told else "-"
    axes.plot(*_front(swept), **shown, linestyle=line, linewidth=1.4, markersize=3.5, label=name)
    for row in (row for row in own if "axis" not in row):
        widest = max(limits, key=lambda gap: row[gap] / limits[gap])
        axes.errorbar(
            _used(row, limits), row["accuracy"], **shown, markersize=9, mew=1.6, linestyle="",
            xerr=row.get(f"{widest}_se", 0.0) / limits[widest], yerr=row.get("accuracy_se", 0.0),
            elinewidth=1.0, capsize=2.0,
        )  # fmt: skip


def _frame(axes: Axes, rows: list[Row]) -> None:
    """Set the axes to what methods and ceilings show; the majority's answer may lie below."""
    level = next((row["accuracy"] for row in rows if row["method"] == "majority"), None)
    heights = [row["accuracy"] for row in rows if row["method"] != "majority"]
    low, high = min(heights), max(heights)
    room = MARGIN * (high - low)
    if level is not None:
        if level > low - 4.0 * room:
            low = min(low, level)
        axes.axhline(level, color=COLOURS[4], linewidth=1, linestyle=":", label="majority")
        axes.text(
            WIDEST, low - room, f"majority {level:.3f}", ha="right", va="bottom",
            color=COLOURS[4], fontsize=8,
        )  # fmt: skip
    axes.set_ylim(low - room, high + room)
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
