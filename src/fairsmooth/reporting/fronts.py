"""The charts of a search: what can be had, accuracy against either gap."""

from fairsmooth.reporting.charts import relations
from fairsmooth.reporting.charts.drawing import Drawn
from fairsmooth.tuning.front import FrontPoint, ParetoFront

_GAPS = {
    "demographic_parity": "largest difference of selection rates",
    "equalized_odds_sum": "sum of the gaps of true and false positive rates",
}


def front_charts(front: ParetoFront) -> list[Drawn]:
    """Draw every finished trial against both gaps."""
    found, chosen = [], front.chosen.measured
    for gap, words in _GAPS.items():
        rows = [_row(point, gap, kind) for point, kind in _kinds(front)]
        limit = front.limits.get(gap)
        where = "" if limit is None else " The dashed line is the limit."
        found.append(
            Drawn(
                f"chart-front-{gap.replace('_', '-')}",
                f"Accuracy against the {words}",
                "Up and left is better; what is chosen should be near the corner." + where,
                f"{len(rows)} trials; the chosen one has accuracy "
                f"{chosen['accuracy']:.4f} and gap {chosen[gap]:.4f}.",
                relations.front(rows, gap=words, limit=limit),
            )
        )
    return found


def _kinds(front: ParetoFront) -> list[tuple[FrontPoint, str]]:
    named = [(point, _kind(point)) for point in front.trials]
    named += [(point, "peer") for point in front.peers]
    order = ["other trial", "front", "without parity term", "peer", "chosen"]
    return sorted(named, key=lambda pair: order.index(pair[1]))


def _kind(point: FrontPoint) -> str:
    if point.chosen:
        return "chosen"
    if point.baseline:
        return "without parity term"
    return "front" if point.on_front else "other trial"


def _row(point: FrontPoint, gap: str, kind: str) -> dict[str, object]:
    low, high = point.intervals[gap]
    below, above = point.intervals["accuracy"]
    return {
        "name": point.name, "kind": kind, "gap": point.measured[gap],
        "accuracy": point.measured["accuracy"], "gap_low": low, "gap_high": high,
        "accuracy_low": below, "accuracy_high": above,
    }  # fmt: skip
