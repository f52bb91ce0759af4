"""From the cells of one grouping to what is claimed about one quantity."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fairsmooth.core.contrasts import DIVERGENCES, Contrast
from fairsmooth.guarantees.cells import Cells, summed_radius
from fairsmooth.guarantees.quantities import QUANTITIES, Quantity

Shift = tuple[str, float]
CellsByLabel = Mapping[int | None, Cells]


@dataclass(frozen=True)
class Claim:
    """What is guaranteed about one quantity, in one grouping and one stratum.

    Attributes
    ----------
    quantity : str
        Its name.
    limit : float
        What it must keep.
    bound : float or None
        What it keeps, after the shift if one was asked for; each bound has the guarantee's
        confidence by itself.
    measured : float or None
        The value in the safety rows; ``None`` if a cell is empty.
    radius : mapping
        By divergence, how far the people of every cell may change with the limit still kept.
    holds : bool or None
        Whether the bound keeps the limit and no cell is empty.
    parts : tuple of float
        Of a sum, the bounds that it adds up: one per label, each at its share of the error.
    column : str or None
        The sensitive column; ``None`` for all columns together.
    stratum : label or None
        The value of the control features; ``None`` without any.

    In a series of attempts bound, measured value, radius and holds are withheld.
    """

    quantity: str
    limit: float
    bound: float | None
    measured: float | None
    radius: Mapping[str, float]
    holds: bool | None
    parts: tuple[float, ...] = ()
    column: str | None = None
    stratum: object = None


def make_claim(
    name: str,
    cells: CellsByLabel,
    limit: float,
    *,
    error: float,
    shift: Shift | None = None,
) -> Claim:
    """Bound one quantity from its cells, and test it against its limit."""
    quantity = QUANTITIES[name]
    families = [cells[label] for label in quantity.labels]
    empty = any(family.empty for family in families)
    parts = () if empty else _bounds(quantity, families, error=error, shift=shift)
    found = quantity.worst if empty else _total(quantity, parts)
    kept = not empty and quantity.within(found, limit)
    return Claim(
        quantity=name,
        limit=limit,
        bound=found,
        measured=None if empty else measure(quantity, families),
        radius={
            divergence: 0.0 if empty else radius(quantity, families, limit, error, divergence)
            for divergence in DIVERGENCES
        },
        holds=kept,
        parts=parts if quantity.summed else (),
    )


def withheld(claim: Claim) -> Claim:
    """Return a claim that shows nothing of the safety rows, not even which limit failed."""
    return replace(claim, bound=None, measured=None, radius={}, holds=None, parts=())


def bound(quantity: Quantity, families: list[Cells], *, error: float, shift: Shift | None) -> float:
    """Return the bound on a quantity of cells none of which is empty."""
    return _total(quantity, _bounds(quantity, families, error=error, shift=shift))


def _bounds(
    quantity: Quantity, families: list[Cells], *, error: float, shift: Shift | None
) -> tuple[float, ...]:
    """Return the bound of every label; the gaps of a sum share the error."""
    contrast = contrast_of(quantity, shift)
    share = error / len(families) if quantity.summed else error
    return tuple(family.bound(contrast, share) for family in families)


def _total(quantity: Quantity, parts: tuple[float, ...]) -> float:
    total = quantity.combine(list(parts))
    # Adding two floats rounds by half a unit: a sum of bounds is rounded up, but not
    # beyond what the sum can be.
    return min(quantity.largest, total * (1.0 + 2.0**-52)) if quantity.summed else total


def radius(
    quantity: Quantity, families: list[Cells], limit: float, error: float, divergence: str
) -> float:
    """Return the certified radius of a quantity in one divergence."""
    contrast = Contrast(quantity.ratio, DIVERGENCES[divergence])
    if quantity.summed:
        return summed_radius(families, contrast, limit, error)
    return min(family.radius(contrast, limit, error) for family in families)


def contrast_of(quantity: Quantity, shift: Shift | None) -> Contrast:
    """Return the contrast that a quantity is made of, after a shift."""
    if shift is None:
        return Contrast(quantity.ratio)
    return Contrast(quantity.ratio, DIVERGENCES[shift[0]], shift[1])


def measure(quantity: Quantity, families: list[Cells]) -> float:
    """Return the value of a quantity in the safety rows themselves."""
    values = [_spread(family.rates, quantity.ratio) for family in families]
    return quantity.combine(values)


def _spread(rates: list[float], ratio: bool) -> float:
    if not ratio:
        return max(rates) - min(rates)
    return min(rates) / max(rates) if max(rates) > 0.0 else 1.0
