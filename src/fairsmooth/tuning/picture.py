"""The picture of a front: accuracy against both gaps, with intervals."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairsmooth._palette import COLOURS, STYLE
from fairsmooth.tuning.front import FrontPoint, ParetoFront

_PANELS = {
    "demographic_parity": "demographic parity gap",
    "equalized_odds_sum": "equalized odds gap (sum)",
}
_PEER_MARKS = (("fairlearn, demographic parity", "^"), ("fairlearn, equalized odds", "v"))
_ORDER = (
    "chosen", "front", "beaten trial", "baseline, no parity", "limit", "aim",
    *(family for family, _ in _PEER_MARKS),
)  # fmt: skip
_FRONT, _CHOSEN, _PEER, _OTHER = COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[4]


def draw_front(front: ParetoFront) -> Figure:
    """Draw every finished trial; the front has intervals, and the chosen trial stands out."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 4.6), layout="constrained")
        for axes, (name, label) in zip(
            figure.subplots(1, 2, sharey=True), _PANELS.items(), strict=True
        ):
            _panel(axes, front, name)
            axes.set_xlabel(label)
        figure.axes[0].set_ylabel("accuracy")
        figure.suptitle(
            f"Judged on {front.n_rows:,} rows, each by a model that had not seen it "
            f"({front.n_folds} folds); bars are {front.confidence:.0%} intervals",
            x=0.01, ha="left", fontsize=10.5,
        )  # fmt: skip
        _legend(figure)
    return figure


def _legend(figure: Figure) -> None:
    """Name every mark once, the most telling first."""
    named: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        named = dict(zip(labels, handles, strict=True)) | named
    order = [text for text in _ORDER if text in named]
    figure.legend(
        [named[text] for text in order], order, loc="outside lower left", ncols=len(_ORDER) // 2,
        frameon=False, fontsize=9,
    )  # fmt: skip


def _panel(axes: Axes, front: ParetoFront, name: str) -> None:
    others = [p for p in front.trials if not (p.on_front or p.chosen or p.baseline)]
    points = [p for p in front.points if not (p.chosen or p.baseline)]
    chosen = [p for p in front.trials if p.chosen]
    # The chosen trial may be the baseline; it is drawn once.
    baseline = [p for p in front.trials if p.baseline and not p.chosen]
    _scatter(axes, others, name, color=_OTHER, s=12, alpha=0.45, label="beaten trial")
    _bars(axes, points, name, color=_FRONT, fmt="o", markersize=4, label="front")
    for peers, (family, marker) in zip(_families(front.peers), _PEER_MARKS, strict=False):
        _bars(axes, peers, name, color=_PEER, fmt=marker, markersize=5, label=family)
    _bars(axes, baseline, name, color=_OTHER, fmt="s", markersize=6, label="baseline, no parity")
    _bars(axes, chosen, name, color=_CHOSEN, fmt="o", markersize=8, label="chosen", strong=True)
    limit = front.limits.get(name)
    if limit is not None:
        axes.axvline(limit, color="#333333", linewidth=1, linestyle="--", label="limit")
        aim = front.aim.get("aims", {}).get(name)
        if aim is not None and aim < limit:
            axes.axvline(aim, color="#333333", linewidth=1, linestyle=":", label="aim")
    _frame(axes, [*points, *chosen, *baseline, *front.peers], name, limit)


def _families(peers: Sequence[FrontPoint]) -> list[list[FrontPoint]]:
    return [[p for p in peers if p.name.startswith(family)] for family, _ in _PEER_MARKS]


def _scatter(axes: Axes, points: Sequence[FrontPoint], name: str, **style: Any) -> None:
    if points:
        x, y = ([p.measured[n] for p in points] for n in (name, "accuracy"))
        axes.scatter(x, y, linewidths=0, **style)


def _bars(
    axes: Axes, points: Sequence[FrontPoint], name: str, *, strong: bool = False, **style: Any
) -> None:
    if not points:
        return
    x, y = ([p.measured[n] for p in points] for n in (name, "accuracy"))
    drawn = axes.errorbar(
        x, y, xerr=_reach(points, name), yerr=_reach(points, "accuracy"),
        elinewidth=1.6 if strong else 0.8, zorder=4 if strong else 3, **style,
    )  # fmt: skip
    for line in drawn.lines[2]:
        line.set_alpha(0.9 if strong else 0.35)


def _reach(points: Sequence[FrontPoint], name: str) -> Any:
    """Return how far intervals reach below and above what was measured."""
    measured = np.array([p.measured[name] for p in points])
    low, high = np.array([p.intervals[name] for p in points]).T
    return np.maximum([measured - low, high - measured], 0.0)


def _frame(axes: Axes, points: Sequence[FrontPoint], name: str, limit: float | None) -> None:
    """Show what is worth looking at: a trial that is beaten by far may lie outside."""
    gaps = [p.measured[name] for p in points] + ([] if limit is None else [limit])
    ends = [end for p in points for end in p.intervals["accuracy"]]
    room = 0.05 * (max(ends) - min(ends))
    axes.set_ylim(min(ends) - room, max(ends) + room)
    axes.set_xlim(0.0, 1.12 * max(gaps) + 0.01)
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
