"""Curves of rates and gaps under given reweightings of a sample."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.data.groups import Groups
from fairsmooth.metrics.rates import Rates, rates_of
from fairsmooth.metrics.shift.cells import Cells, into_cells
from fairsmooth.metrics.shift.compared import Compared
from fairsmooth.metrics.shift.curve import CurvePoint
from fairsmooth.metrics.shift.curve_tables import (
    Tables,
    moved,
    points,
    with_gaps,
    with_largest_gaps,
    with_smallest_gaps,
)
from fairsmooth.metrics.shift.scenarios import Scenario


def reweighted_points(
    scenarios: Iterable[Scenario],
    compared: tuple[Compared, ...],
    *,
    y: NDArray[np.int64],
    groups: Groups,
) -> Iterator[CurvePoint]:
    """Yield the points of every scenario: all rates, gaps, groups and classifiers."""
    cells = [
        into_cells(np.column_stack(list(one.columns().values())), y=y, groups=groups)
        for one in compared
    ]
    # Looked up, not searched for: a point for each of many groups would look at all of them.
    places = {label: place for place, label in enumerate(groups.labels)} | {None: -1}
    for scenario in scenarios:
        shown = () if scenario.overall else groups.labels
        effective = _effective_counts(scenario.weights[0], groups)
        for one, sorted_rows in zip(compared, cells, strict=True):
            template = CurvePoint(scenario.curve, scenario.strength, one.prefix, None, np.nan)
            for point in points(template, shown, _tables(one, sorted_rows, scenario)):
                yield replace(point, effective_count=float(effective[places[point.group]]))


def _tables(one: Compared, cells: Cells, scenario: Scenario) -> Tables:
    rates = rates_of(*cells.sums(scenario.weights))
    by_column: dict[str, Rates] = {
        name: {rate: values[position] for rate, values in rates.items()}
        for position, name in enumerate(one.columns())
    }
    drawn = with_gaps(by_column["value"])
    tables = {"value": drawn}
    if "reference" in by_column:
        tables["reference"] = with_gaps(by_column["reference"])
    if "own" in by_column:
        # A slack is not a decision that can err: its average over the same rows.
        slack = {**by_column["slack"], "error_rate": by_column["slack"]["selection_rate"]}
        low, high = moved(by_column["own"], slack, -1.0), moved(by_column["own"], slack, 1.0)
        tables["low"] = with_smallest_gaps(low, low=low, high=high)
        tables["high"] = with_largest_gaps(high, low=low, high=high)
    found = {
        field: {metric: _mean(values) for metric, values in table.items()}
        for field, table in tables.items()
    }
    if len(scenario.weights) > 1:
        found["spread_low"] = {metric: _least(values) for metric, values in drawn.items()}
        found["spread_high"] = {metric: -_least(-values) for metric, values in drawn.items()}
    return found


def _mean(values: Floats) -> Floats:
    """Return the mean over draws, of those in which the value is defined."""
    defined = ~np.isnan(values)
    sums, counts = np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _least(values: Floats) -> Floats:
    least = np.where(np.isnan(values), np.inf, values).min(axis=0)
    return np.where(np.isinf(least), np.nan, least)


def _effective_counts(weights: Floats, groups: Groups) -> Floats:
    n_groups = len(groups.labels)
    first = np.bincount(groups.codes, weights=weights, minlength=n_groups)
    second = np.bincount(groups.codes, weights=weights**2, minlength=n_groups)
    first, second = np.append(first, first.sum()), np.append(second, second.sum())
    return np.where(second > 0, first**2 / np.where(second > 0, second, 1.0), 0.0)
