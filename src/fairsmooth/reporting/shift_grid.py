"""Guaranteed bounds over a grid of radii, all computed by the library: the page draws, no more."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairsmooth.core.contrasts import DIVERGENCES
from fairsmooth.core.outward import lower_text
from fairsmooth.guarantees import GapGuarantee
from fairsmooth.guarantees.cells import DecisionCells
from fairsmooth.guarantees.claims import Claim, bound
from fairsmooth.guarantees.quantities import QUANTITIES
from fairsmooth.guarantees.rounding import ceiling, floor
from fairsmooth.reporting.first_screen import differ, words_of

N_RADII = 16
# How far the grid goes where the certified radius is small.
_REACH = {"total_variation": 0.05, "hellinger": 0.05, "chi_square": 0.02, "density_ratio": 0.2}


def shift_grids(guarantee: GapGuarantee) -> list[dict[str, Any]]:
    """Return, for every claim about decisions, its bound at many radii of every divergence.

    Nothing for claims about scores, whose samples a guarantee does not hold, nor for a series.
    """
    if guarantee.counts is None or guarantee.scores:
        return []
    return [_grid(guarantee, claim, cells) for claim, cells in _with_cells(guarantee)]


def _with_cells(guarantee: GapGuarantee) -> Iterator[tuple[Claim, list[DecisionCells]]]:
    for claim in guarantee.claims:
        families = []
        for label in QUANTITIES[claim.quantity].labels:
            counts = [
                (cell.positive, cell.rows)
                for cell in guarantee.counts or ()
                if (cell.column, cell.stratum, cell.label) == (claim.column, claim.stratum, label)
            ]
            families.append(DecisionCells(tuple(counts)))
        if not any(family.empty for family in families):
            yield claim, families


def _grid(guarantee: GapGuarantee, claim: Claim, cells: list[DecisionCells]) -> dict[str, Any]:
    quantity = QUANTITIES[claim.quantity]
    name = claim.quantity.replace("_", " ")
    where = [str(part) for part in (claim.column, claim.stratum) if part is not None]
    ways = []
    for divergence in DIVERGENCES:
        radii = radii_of(divergence, claim.radius[divergence])
        bounds = [
            bound(quantity, list(cells), error=guarantee.error, shift=(divergence, radius))
            for radius in radii
        ]
        ways.append(
            {
                "words": words_of(divergence),
                "certified": claim.radius[divergence],
                "certified_text": floor(claim.radius[divergence]),
                "radii": radii,
                "radius_texts": [lower_text(r, 3, significant=True) if r else "0" for r in radii],
                "bounds": bounds,
                "bound_texts": [(floor if quantity.ratio else ceiling)(b) for b in bounds],
            }
        )
    return {
        "name": ", ".join([name, *where]),
        "words": "no group's selection rate is below {} times another's"
        if quantity.ratio
        else f"{differ(quantity)} at most {{}}",
        "limit": claim.limit,
        "ratio": quantity.ratio,
        "ways": ways,
    }


def radii_of(divergence: str, certified: float) -> list[float]:
    """Return the radii of a grid: evenly spaced, the certified one among them."""
    reach = min(max(_REACH[divergence], 2.0 * certified), DIVERGENCES[divergence].largest)
    return sorted({*np.linspace(0.0, reach, N_RADII + 1).tolist(), float(certified)})
