"""From rates under a shift to the points of its curves."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.metrics.rates import RATES, Rates, gaps_of, named_gaps
from fairsmooth.metrics.shift.boxes import largest_gap, smallest_gap
from fairsmooth.metrics.shift.curve import CurvePoint

Tables = dict[str, dict[str, Floats]]
"""By field of a point and name of the metric, arrays of shape (K + 1,), or (1,) for gaps."""


def with_gaps(rates: Rates) -> dict[str, Floats]:
    """Return the rates with the gaps between groups, each of shape (..., 1)."""
    return {**rates, **_columns(gaps_of(rates))}


def with_smallest_gaps(rates: Rates, *, low: Rates, high: Rates) -> dict[str, Floats]:
    """Return the rates with the least gaps of rates between ``low`` and ``high``."""
    return {**rates, **_box_gaps(low, high, smallest_gap)}


def with_largest_gaps(rates: Rates, *, low: Rates, high: Rates) -> dict[str, Floats]:
    """Return the rates with the largest gaps of rates between ``low`` and ``high``."""
    return {**rates, **_box_gaps(low, high, largest_gap)}


def moved(rates: Rates, slack: Rates, sign: float) -> Rates:
    """Return the rates moved up or down by their slack, within [0, 1]."""
    return {name: np.clip(rates[name] + sign * slack[name], 0.0, 1.0) for name in rates}


def points(
    template: CurvePoint, groups: tuple[Hashable, ...], tables: Tables
) -> Iterator[CurvePoint]:
    """Yield one point per metric and group, and one of all rows; ``tables`` are by field.

    Without groups, those of all rows alone, which stand last.
    """
    for metric, values in tables["value"].items():
        labels = (*groups, None) if len(values) > 1 else (None,)
        for position, group in enumerate(labels):
            place = -1 if group is None else position
            numbers: dict[str, Any] = {
                field: float(table[metric][place]) for field, table in tables.items()
            }
            yield replace(template, metric=template.metric + metric, group=group, **numbers)


def _box_gaps(
    low: Rates, high: Rates, extreme: Callable[[Floats, Floats], Floats]
) -> dict[str, Floats]:
    gaps = [extreme(low[name][..., :-1], high[name][..., :-1]) for name in RATES[:3]]
    return _columns(named_gaps(*gaps))


def _columns(gaps: dict[str, Floats]) -> dict[str, Floats]:
    return {name: gap[..., None] for name, gap in gaps.items()}
