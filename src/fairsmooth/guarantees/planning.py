r"""Before any safety row is looked at: how many are needed, and how likely they are to suffice.

A sample of the expected counts has a bound, by the exact algorithm; samples scatter around it with
the standard error of the measured value. So a guarantee is reached with probability near
:math:`\Phi((\text{limit} - \text{bound at the expected counts})/\text{standard error})`. This
is a forecast, not a guarantee: the guarantee itself does not depend on it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from scipy.special import ndtr, ndtri

from fairsmooth import _validate
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees.cells import DecisionCells
from fairsmooth.guarantees.claims import Shift, bound, contrast_of, measure
from fairsmooth.guarantees.quantities import QUANTITIES, Quantity

_MOST_ROWS = 10**7


@dataclass(frozen=True)
class ExpectedCell:
    """What is expected of one cell.

    Attributes
    ----------
    rate : float
        Its positive rate.
    rows : float
        How many safety rows it will have.
    training_rows : float
        How many rows its rate was estimated from; infinite if it is taken as known.
    """

    rate: float
    rows: float
    training_rows: float = math.inf


# By label, the cells of all groups.
Expected = Mapping[int | None, Sequence[ExpectedCell]]


def expected_bound(
    name: str, cells: Expected, *, confidence: float = 0.95, shift: Shift | None = None
) -> float:
    """Return the bound that the expected counts give.

    Examples
    --------
    >>> cells = {None: [ExpectedCell(0.25, 400), ExpectedCell(0.16, 500)]}
    >>> round(expected_bound("demographic_parity", cells), 4)
    0.1381
    """
    quantity = _quantity(name, cells)
    families = [_rounded(cells[label]) for label in quantity.labels]
    if any(family.empty for family in families):
        return quantity.worst
    return bound(quantity, [*families], error=1.0 - confidence, shift=shift)


def margin(
    name: str,
    cells: Expected,
    *,
    confidence: float = 0.95,
    shift: Shift | None = None,
    aim: float = 0.9,
) -> float:
    r"""Return how far from its limit a candidate must stay on the training rows.

    What the exact bound adds at the expected counts, plus :math:`\Phi^{-1}(\text{aim})` standard
    errors (1.28 at 0.9) of the difference between the values of safety and training rows. A
    candidate whose training value is ``limit - margin`` (for a ratio, ``limit + margin``) is
    guaranteed with probability near ``aim``.
    """
    quantity = _quantity(name, cells)
    found = expected_bound(name, cells, confidence=confidence, shift=shift)
    added = abs(found - _expected_value(quantity, cells))
    return added + float(ndtri(aim)) * standard_error(name, cells)


def return_probability(
    name: str,
    cells: Expected,
    limit: float,
    *,
    confidence: float = 0.95,
    shift: Shift | None = None,
) -> float:
    """Return about how likely the safety rows are to guarantee the limit, at the expected rates.

    For several limits take the least: it is an upper estimate of keeping all of them.
    """
    quantity = _quantity(name, cells)
    room = limit - expected_bound(name, cells, confidence=confidence, shift=shift)
    room = -room if quantity.ratio else room
    error = standard_error(name, cells)
    return float(ndtr(room / error)) if error > 0.0 else float(room >= 0.0)


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
    """Return how many safety rows, all groups together, guarantee a limit with chance ``power``.

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

    def enough(rows: int) -> bool:
        cells = {
            label: [ExpectedCell(rate, rows * share) for rate, share in found]
            for label, found in by_label.items()
        }
        found = return_probability(name, cells, limit, confidence=confidence, shift=shift)
        return found >= power

    if not _within_reach(QUANTITIES[name], by_label, limit, shift):
        return None
    low, high = 1, 64
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST_ROWS:
            return None
    # One row in 500 is nearer than the forecast itself.
    while high - low > max(1, high // 500):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _within_reach(
    quantity: Quantity,
    by_label: Mapping[int | None, Sequence[tuple[float, float]]],
    limit: float,
    shift: Shift | None,
) -> bool:
    """Tell whether the limit is kept where the expected rates are the true ones."""
    contrast = contrast_of(quantity, shift)
    values = []
    for label in quantity.labels:
        pairs = permutations([rate for rate, _ in by_label.get(label, [])], 2)
        found = [contrast.worst(first, second) for first, second in pairs]
        values.append((min if quantity.ratio else max)(found, default=quantity.worst))
    return quantity.within(quantity.combine(values), limit)


def standard_error(name: str, cells: Expected) -> float:
    """Return the standard error of the measured value, less the training one, of the worst pair."""
    quantity = _quantity(name, cells)
    parts = [_variance(quantity, cells[label]) for label in quantity.labels]
    return math.sqrt(sum(parts) if quantity.summed else max(parts))


def _variance(quantity: Quantity, cells: Sequence[ExpectedCell]) -> float:
    highest = max(cells, key=lambda cell: cell.rate)
    lowest = min((c for c in cells if c is not highest), key=lambda cell: cell.rate)
    variances = [_rate_variance(cell) for cell in (highest, lowest)]
    if not quantity.ratio:
        return sum(variances)
    if highest.rate == 0.0 or lowest.rate == 0.0:
        return 1.0
    relative = variances[0] / highest.rate**2 + variances[1] / lowest.rate**2
    return (lowest.rate / highest.rate) ** 2 * relative


def _rate_variance(cell: ExpectedCell) -> float:
    if cell.rows <= 0.0 or cell.training_rows <= 0.0:
        return 1.0
    return cell.rate * (1.0 - cell.rate) * (1.0 / cell.rows + 1.0 / cell.training_rows)


def _expected_value(quantity: Quantity, cells: Expected) -> float:
    # Rates of enough rows to be those that were given.
    families = [
        DecisionCells(tuple((round(c.rate * 10**9), 10**9) for c in cells[label]))
        for label in quantity.labels
    ]
    return measure(quantity, [*families])


def _rounded(cells: Sequence[ExpectedCell]) -> DecisionCells:
    rows = [math.floor(cell.rows) for cell in cells]
    return DecisionCells(tuple((round(c.rate * n), n) for c, n in zip(cells, rows, strict=True)))


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


def _quantity(name: str, cells: Expected) -> Quantity:
    _validate.one_of(QUANTITIES, quantity=name)
    quantity = QUANTITIES[name]
    missing = [label for label in quantity.labels if label not in cells]
    if missing:
        raise InputError(f"Expected cells for the labels {missing} of {name}, got none.")
    if any(len(cells[label]) < 2 for label in quantity.labels):
        raise InputError("Expected at least 2 groups to plan for, got fewer.")
    return quantity
