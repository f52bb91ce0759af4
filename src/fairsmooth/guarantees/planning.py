r"""Before any safety row is looked at: how likely the safety rows are to suffice.

A sample of the expected counts has a bound, by the exact algorithm; samples scatter around it with
the standard error of the measured value. So a guarantee is reached with probability near
:math:`\Phi((\text{limit} - \text{bound at the expected counts})/\text{standard error})`. This
is a forecast, not a guarantee: the guarantee itself does not depend on it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.special import ndtr, ndtri

from fairsmooth import _validate
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees.cells import DecisionCells
from fairsmooth.guarantees.claims import Shift, bound, measure
from fairsmooth.guarantees.quantities import QUANTITIES, Quantity


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
    families = [rounded(cells[label]) for label in quantity.labels]
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


def rounded(cells: Sequence[ExpectedCell]) -> DecisionCells:
    """Return the expected counts as whole numbers."""
    rows = [math.floor(cell.rows) for cell in cells]
    return DecisionCells(tuple((round(c.rate * n), n) for c, n in zip(cells, rows, strict=True)))


def _quantity(name: str, cells: Expected) -> Quantity:
    _validate.one_of(QUANTITIES, quantity=name)
    quantity = QUANTITIES[name]
    missing = [label for label in quantity.labels if label not in cells]
    if missing:
        raise InputError(f"Expected cells for the labels {missing} of {name}, got none.")
    if any(len(cells[label]) < 2 for label in quantity.labels):
        raise InputError("Expected at least 2 groups to plan for, got fewer.")
    return quantity
