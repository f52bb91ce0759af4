"""How many safety rows it takes to guarantee a limit."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from scipy.special import ndtri

from fairsmooth import _validate
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees.claims import Shift, bound, contrast_of
from fairsmooth.guarantees.planning import (
    Expected,
    ExpectedCell,
    return_probability,
    rounded,
    standard_error,
)
from fairsmooth.guarantees.quantities import QUANTITIES, Quantity

_MOST_ROWS = 10**7
# The variance of the largest count up to which a forecast takes the exact bound, and the shares of
# the rows there that the bound is followed from: 12 answers of up to 5 million rows were then
# within .4 % of those by exact bounds alone, which took up to 12 s.
_EXACT_VARIANCE = 8192.0
_FOLLOWED_FROM = (1.0, 0.7, 0.45, 0.25)

# By label, the rate and the share of every group.
_RatesAndShares = Mapping[int | None, Sequence[tuple[float, float]]]


def rows_needed(
    name: str,
    limit: float,
    *,
    rates: Mapping[int | None, Sequence[float]] | Sequence[float],
    shares: Mapping[int | None, Sequence[float]] | Sequence[float],
    confidence: float = 0.95,
    shift: Shift | None = None,
    power: float = 0.8,
) -> int | None:
    r"""Return how many safety rows, all groups together, guarantee a limit with chance ``power``.

    The exact bound decides while the largest count has a variance below 8,192 (some 100,000 rows
    at rates near 0.2). Beyond, exact work takes seconds, and what the bound adds to the expected
    value follows :math:`a/\sqrt n + b/n`, which is fitted below.

    Parameters
    ----------
    name : str
        The quantity.
    limit : float
        Its limit.
    rates : sequence, or mapping from label to sequence
        Expected positive rates of the groups; by label (1, 0) for rates among a label.
    shares : likewise
        The share of all rows that each cell has.
    confidence, shift : optional
        As for the guarantee.
    power : float
        How likely the rows must be to suffice.

    Returns
    -------
    int or None
        ``None`` if no number of rows up to 10^7 is enough: the expected value is too near.

    Examples
    --------
    >>> rows_needed("demographic_parity", 0.2, rates=[0.25, 0.16], shares=[0.5, 0.5])
    382
    """
    _validate.in_range(0.5, 0.999, power=power)
    _validate.one_of(QUANTITIES, quantity=name)
    by_label = _by_label(rates, shares)

    quantity = QUANTITIES[name]
    value = _shifted_value(quantity, by_label, shift)
    if not quantity.within(value, limit):
        return None
    exact_rows, room = _exact_rows(by_label), abs(limit - value)

    @cache
    def beyond() -> Callable[[int], float]:
        return _many_rows(quantity, by_label, exact_rows, error=1.0 - confidence, shift=shift)

    def enough(rows: int) -> bool:
        cells = _cells(by_label, rows)
        if rows > exact_rows:
            return room - beyond()(rows) >= float(ndtri(power)) * standard_error(name, cells)
        found = return_probability(name, cells, limit, confidence=confidence, shift=shift)
        return found >= power

    low, high = 1, 64
    while not enough(high):
        if high == _MOST_ROWS:
            return None
        low, high = high, min(2 * high, _MOST_ROWS)
    # One row in 500 is nearer than the forecast itself.
    while high - low > max(1, high // 500):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _cells(by_label: _RatesAndShares, rows: int) -> Expected:
    return {
        label: [ExpectedCell(rate, rows * share) for rate, share in found]
        for label, found in by_label.items()
    }


def _exact_rows(by_label: _RatesAndShares) -> float:
    """Return up to how many rows the exact bound is cheap."""
    most = max(rate * (1.0 - rate) * share for found in by_label.values() for rate, share in found)
    return _EXACT_VARIANCE / most if most > 0.0 else math.inf


def _many_rows(
    quantity: Quantity, by_label: _RatesAndShares, exact_rows: float, **how: Any
) -> Callable[[int], float]:
    """Return what the bound adds to the expected value, by the number of rows, when they are many.

    Fitted by least squares of relative size to a few numbers of rows where the bound is cheap.
    """
    rows = np.array([math.floor(share * exact_rows) for share in _FOLLOWED_FROM], dtype=float)
    found = [_added(quantity, _cells(by_label, int(n)), **how) for n in rows]
    terms = np.stack([np.ones(len(rows)), rows**-0.5], axis=1)
    (first, second), *_ = np.linalg.lstsq(terms, found * np.sqrt(rows), rcond=None)
    return lambda n: float(first / math.sqrt(n) + second / n)


def _added(quantity: Quantity, cells: Expected, *, error: float, shift: Shift | None) -> float:
    families = [rounded(cells[label]) for label in quantity.labels]
    if any(family.empty for family in families):
        return 1.0
    # Less the value of the rounded counts, not of the rates: rounding follows no law.
    rates = {
        label: [(rate, 0.0) for rate in family.rates]
        for label, family in zip(quantity.labels, families, strict=True)
    }
    found = bound(quantity, [*families], error=error, shift=shift)
    return abs(found - _shifted_value(quantity, rates, shift))


def _shifted_value(quantity: Quantity, by_label: _RatesAndShares, shift: Shift | None) -> float:
    """Return the worst value that a shift makes of the expected rates."""
    contrast = contrast_of(quantity, shift)
    values = []
    for label in quantity.labels:
        pairs = permutations([rate for rate, _ in by_label.get(label, [])], 2)
        found = [contrast.worst(first, second) for first, second in pairs]
        values.append((min if quantity.ratio else max)(found, default=quantity.worst))
    return quantity.combine(values)


def _by_label(rates: Any, shares: Any) -> dict[int | None, list[tuple[float, float]]]:
    rate_map: Mapping[Any, Any] = rates if isinstance(rates, Mapping) else {None: rates}
    share_map: Mapping[Any, Any] = shares if isinstance(shares, Mapping) else {None: shares}
    if set(rate_map) != set(share_map):
        raise InputError(
            f"Expected rates and shares for the same labels, got {set(rate_map)} and "
            f"{set(share_map)}."
        )
    found = {}
    for label, values in rate_map.items():
        _validate.same_length(rates=values, shares=share_map[label])
        for rate, share in zip(values, share_map[label], strict=True):
            _validate.in_range(0.0, 1.0, rate=rate, share=share)
        found[label] = list(zip(values, share_map[label], strict=True))
    return found
