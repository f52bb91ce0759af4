"""What the explorers of a page hold: counts and grids, never rows."""

from typing import Any

import numpy as np

from fairsmooth.metrics import Audit
from fairsmooth.metrics.auditing.score_counts import ScoreCell, ScoreCounts
from fairsmooth.reporting.selection import names_in_order

# Ways in which the audited population is moved: what they are called, what their strength is.
_CURVES = {
    "partition": ("random parts of these rows", "the share of the rows in a part"),
    "label_shift": ("other shares of positive labels", "the share of positive labels"),
    "chi_square_largest": (
        "the worst change of weights within a chi-square distance",
        "the distance",
    ),
    "hellinger_largest": (
        "the worst change of weights within a Hellinger distance",
        "the distance",
    ),
}
N_BINS = 25
_METRICS = {
    "expected_demographic_parity": "gap of expected selection rates",
    "expected_equalized_odds_sum": "sum of the gaps of expected true and false positive rates",
}


def threshold_data(audit: Audit) -> dict[str, Any] | None:
    """Return counts of scores by group and label for the threshold explorer."""
    counts = audit.score_counts
    if counts is None:
        return None
    names = names_in_order(audit)
    return {
        "thresholds": list(counts.thresholds),
        "used": counts.used,
        "groups": [
            {
                "name": names[group],
                "cells": [_plain(cell) for cell in counts.cells if cell.group == group],
            }
            for group in names
        ],
    }


def _plain(cell: ScoreCell) -> dict[str, Any]:
    return {
        "label": cell.label,
        "rows": cell.rows,
        "edges": list(cell.edges),
        "above": list(cell.above),
    }


def score_shapes(audit: Audit) -> list[dict[str, Any]]:
    """Return how the scores of every group are spread, from counts of ten people or more."""
    counts = audit.score_counts
    if counts is None:
        return []
    names = names_in_order(audit)
    rows = []
    for group, name in names.items():
        cells = [cell for cell in counts.cells if cell.group == group and cell.rows]
        total = sum(cell.rows for cell in cells)
        for low, high, people in _bins(cells, counts) if cells else []:
            share = people / total
            rows.append(
                {"group": name, "low": low, "high": high, "share": share,
                 "density": share / (high - low)}
            )  # fmt: skip
    return rows


def _bins(cells: list[ScoreCell], counts: ScoreCounts) -> list[tuple[float, float, float]]:
    """Return the people between evenly spaced scores; merged counts are spread evenly."""
    grid = np.array(counts.thresholds)
    ends = np.linspace(grid[0], grid[-1], N_BINS + 1)
    above = np.zeros(len(ends))
    for cell in cells:
        # Everybody scores between the ends of the grid, and so above the first or below the last.
        known = {0: cell.rows, **dict(zip(cell.edges, cell.above, strict=True))}
        known[len(grid) - 1] = 0
        places = sorted(known)
        above += np.interp(ends, grid[places], [known[place] for place in places])
    people = -np.diff(above)
    return [(float(a), float(b), float(n)) for a, b, n in zip(ends, ends[1:], people, strict=False)]


def curve_data(audit: Audit) -> list[dict[str, Any]]:
    """Return measured curves as people change, with what the certificate allows around them."""
    if audit.shift is None:
        return []
    points = audit.shift.to_frame()
    found = []
    for metric, axis in _METRICS.items():
        for curve, part in points[points["metric"] == metric].groupby("curve", sort=False):
            words = _curve_words(str(curve))
            if words is None:
                continue
            columns = ["strength", "value", "low", "high", "reference"]
            frame = part.sort_values("strength")[columns].astype(object)
            rows = frame.where(frame.notna(), None).to_dict("records")
            found.append({"metric": axis, "curve": words[0], "strength": words[1], "points": rows})
    return found


def _curve_words(curve: str) -> tuple[str, str] | None:
    if curve.startswith("tilt:"):
        column = curve.removeprefix("tilt:")
        name = f"more weight on large values of feature {column}"
        return name, "how much; on small ones where it is negative"
    return _CURVES.get(curve)
