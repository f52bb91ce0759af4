"""From rates under a shift to the points of its curves."""

from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.metrics._averages import RATES, named_gaps, rate_range
from fairsmooth.metrics._boxes import largest_gap, smallest_gap
from fairsmooth.metrics.curve import CurvePoint

Rates = dict[str, Floats]
"""By name of the rate, arrays of shape (..., K + 1): every group, then all rows."""
Tables = dict[str, dict[str, Floats]]
"""By field of a point and name of the metric, arrays of shape (K + 1,), or (1,) for gaps."""


def with_gaps(rates: Rates) -> dict[str, Floats]:
    """Return the rates with the gaps between groups, each of shape (..., 1)."""
    return {**rates, **_gaps(*(rate_range(rates[name][..., :-1]) for name in RATES[:3]))}


def with_smallest_gaps(rates: Rates, *, low: Rates, high: Rates) -> dict[str, Floats]:
    """Return the rates with the least gaps of rates between ``low`` and ``high``."""
    boxes = [(low[name][..., :-1], high[name][..., :-1]) for name in RATES[:3]]
    return {**rates, **_gaps(*(smallest_gap(*box) for box in boxes))}


def with_largest_gaps(rates: Rates, *, low: Rates, high: Rates) -> dict[str, Floats]:
    """Return the rates with the largest gaps of rates between ``low`` and ``high``."""
    boxes = [(low[name][..., :-1], high[name][..., :-1]) for name in RATES[:3]]
    return {**rates, **_gaps(*(largest_gap(*box) for box in boxes))}


def moved(rates: Rates, slack: Rates, sign: float) -> Rates:
    """Return the rates moved up or down by their slack, within [0, 1]."""
    return {name: np.clip(rates[name] + sign * slack[name], 0.0, 1.0) for name in rates}


def points(
    template: CurvePoint, groups: tuple[Hashable, ...], tables: Tables
) -> Iterator[CurvePoint]:
    """Yield one point per metric and group; ``tables`` are by field of the point."""
    for metric, values in tables["value"].items():
        labels = (*groups, None) if len(values) > 1 else (None,)
        for position, group in enumerate(labels):
            numbers: dict[str, Any] = {
                field: float(table[metric][position]) for field, table in tables.items()
            }
            yield replace(template, metric=template.metric + metric, group=group, **numbers)


def _gaps(selection: Floats, true_positive: Floats, false_positive: Floats) -> dict[str, Floats]:
    gaps = named_gaps(selection, true_positive, false_positive)
    return {name: gap[..., None] for name, gap in gaps.items()}
