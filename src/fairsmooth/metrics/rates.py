"""The one place where rates and gaps are computed: sums per cell, then rates, then gaps.

A *cell* is a group with a label. A score is the probability of a positive decision, and a
decision is a score of 0 or 1, so the same lines serve both.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairsmooth._types import Floats
from fairsmooth.data.groups import Groups

RATES = ("selection_rate", "true_positive_rate", "false_positive_rate", "error_rate")
GAPS = ("demographic_parity", "equalized_odds_sum", "equalized_odds_max")

Rates = dict[str, Floats]
"""By name of the rate, arrays of shape (..., K + 1): every group, then all rows."""


def cell_sums(
    scores: ArrayLike,
    y: NDArray[np.integer[Any]],
    groups: Groups,
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the number of rows and the sum of scores of every cell, each of shape (K, 2).

    With ``weights``, the sum of the rows' weights, and of scores times weights.

    Examples
    --------
    >>> groups = Groups(("a", "b"), np.array([0, 0, 1, 1]))
    >>> counts, sums = cell_sums([1, 1, 0, 1], np.array([0, 1, 0, 1]), groups)
    >>> sums.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    cells, shape = 2 * groups.codes + y, (len(groups.labels), 2)
    size = 2 * shape[0]
    values = np.asarray(scores, dtype=np.float64)
    values = values if weights is None else values * weights
    counts = np.bincount(cells, weights, minlength=size)
    sums = np.bincount(cells, values, minlength=size)
    return counts.reshape(shape).astype(np.float64), sums.reshape(shape).astype(np.float64)


def rates_of(counts: Floats, sums: Floats) -> Rates:
    """Return every rate of each group, then of all rows, from sums of shape (..., K, 2).

    ``counts`` may be weights. The error of a negative row is its score, of a positive row one
    minus its score. NaN where there are no rows.
    """
    rows, hits = _with_everyone(counts), _with_everyone(sums)
    errors = hits[..., 0] + rows[..., 1] - hits[..., 1]
    parts = (
        _share(hits.sum(axis=-1), rows.sum(axis=-1)),
        _share(hits[..., 1], rows[..., 1]),
        _share(hits[..., 0], rows[..., 0]),
        _share(errors, rows.sum(axis=-1)),
    )
    return dict(zip(RATES, parts, strict=True))


def group_rates_of(
    scores: ArrayLike,
    y: NDArray[np.integer[Any]] | None,
    groups: Groups,
    weights: Floats | None = None,
) -> Rates:
    """Return every rate of each group, then of all rows; without labels the selection rate.

    Examples
    --------
    >>> groups = Groups(("a", "b"), np.array([0, 0, 1, 1]))
    >>> {name: rates.tolist() for name, rates in group_rates_of([1, 1, 0, 1], None, groups).items()}
    {'selection_rate': [1.0, 0.5, 0.75]}
    """
    if y is not None:
        return rates_of(*cell_sums(scores, y, groups, weights))
    alike = np.zeros(len(groups.codes), dtype=np.int64)
    name = RATES[0]
    return {name: rates_of(*cell_sums(scores, alike, groups, weights))[name]}


def rate_samples(
    scores: ArrayLike, y: NDArray[np.integer[Any]] | None, groups: Groups
) -> dict[str, list[Floats]]:
    """Return, for every rate, what it is the mean of: one sample per group, then all rows.

    Without labels, for the selection rate alone.
    """
    value = np.asarray(scores, dtype=np.float64)
    everyone = np.ones(len(value), dtype=bool)
    parts = [(value, everyone)]
    if y is not None:
        parts += [(value, y == 1), (value, y == 0), (np.abs(value - y), everyone)]
    return {
        name: by_group(averaged, rows, groups)
        for name, (averaged, rows) in zip(RATES, parts, strict=False)
    }


def by_group(values: Floats, rows: NDArray[np.bool_], groups: Groups) -> list[Floats]:
    """Return the values of some rows: one sample per group, then all of them."""
    codes = range(len(groups.labels))
    return [*(values[rows & (groups.codes == code)] for code in codes), values[rows]]


def rate_range(rates: ArrayLike) -> Floats:
    """Return largest minus smallest rate along the last axis, over the defined ones.

    NaN where fewer than two are defined.
    """
    values = np.asarray(rates, dtype=np.float64)
    undefined = np.isnan(values)
    highest = np.where(undefined, -np.inf, values).max(axis=-1)
    lowest = np.where(undefined, np.inf, values).min(axis=-1)
    enough = (~undefined).sum(axis=-1) > 1
    # Where nothing is defined the difference is infinite, and is not taken.
    gaps = np.full(highest.shape, np.nan)
    np.subtract(highest, lowest, out=gaps, where=enough)
    return gaps


def gaps_of(rates: Rates) -> dict[str, Floats]:
    """Return the three gaps between the groups; the last entry, all rows, takes no part.

    Without labels there is the gap of selection rates alone.
    """
    return named_gaps(*(rate_range(rates[name][..., :-1]) for name in RATES[:3] if name in rates))


def named_gaps(selection: Floats, *label_gaps: Floats) -> dict[str, Floats]:
    """Return the gaps from those of selection, true positive and false positive rates."""
    parts = [selection]
    if label_gaps:
        true_positive, false_positive = label_gaps
        parts += [true_positive + false_positive, np.maximum(true_positive, false_positive)]
    return dict(zip(GAPS, parts, strict=False))


def measure(decisions: ArrayLike, y: NDArray[np.integer[Any]], groups: Groups) -> dict[str, float]:
    """Return accuracy, the three gaps and the selection rate of decisions that are 0 or 1.

    Examples
    --------
    >>> groups = Groups(("a", "b"), np.array([0, 0, 1, 1]))
    >>> found = measure([1, 1, 0, 1], np.array([0, 1, 0, 1]), groups)
    >>> found["accuracy"], found["demographic_parity"], found["equalized_odds_sum"]
    (0.75, 0.5, 1.0)
    """
    counts, sums = cell_sums(decisions, y, groups)
    rates = rates_of(counts, sums)
    correct = counts[:, 0].sum() - sums[:, 0].sum() + sums[:, 1].sum()
    return {
        "accuracy": float(correct / counts.sum()),
        **{name: float(gap) for name, gap in gaps_of(rates).items()},
        "selection_rate": float(rates["selection_rate"][-1]),
    }


def _with_everyone(cells: Floats) -> Floats:
    return np.concatenate([cells, cells.sum(axis=-2, keepdims=True)], axis=-2)


def _share(part: Floats, whole: Floats) -> Floats:
    whole = np.broadcast_to(whole, part.shape)
    share = np.full(part.shape, np.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share
