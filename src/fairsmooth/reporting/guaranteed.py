"""A guarantee of the gaps as tables."""

from fairsmooth.core.contrasts import DIVERGENCES
from fairsmooth.core.labels import group_text
from fairsmooth.guarantees import GapGuarantee
from fairsmooth.guarantees.quantities import QUANTITIES
from fairsmooth.guarantees.rounding import ceiling, floor
from fairsmooth.reporting.first_screen import words_of
from fairsmooth.reporting.tables import Cell, Table
from fairsmooth.reporting.wording import group_names

LABELS = {None: "everybody", 1: "positive", 0: "negative"}


def claims_table(guarantee: GapGuarantee) -> Table:
    """Return every claim: measured, bounded, its limit, and how far people may change."""
    divergences = [name for name in DIVERGENCES if name in guarantee.claims[0].radius]
    rows = []
    for claim in guarantee.claims:
        quantity = QUANTITIES[claim.quantity]
        assert claim.bound is not None  # withheld where counts are withheld
        place = [group_text(part) for part in (claim.column, claim.stratum) if part is not None]
        rounded = floor(claim.bound) if quantity.ratio else ceiling(claim.bound)
        texts = [
            ", ".join([claim.quantity.replace("_", " "), *place]),
            "–" if claim.measured is None else f"{claim.measured:.4f}",
            f"{'at least' if quantity.ratio else 'at most'} {rounded}",
            f"{claim.limit:g}",
            "kept" if claim.holds else "not guaranteed",
            *(floor(claim.radius[name]) for name in divergences),
        ]
        rows.append(tuple(Cell(text) for text in texts))
    radii = (f"radius: {words_of(name)}" for name in divergences)
    columns = ("quantity", "measured", "guaranteed", "limit", "verdict", *radii)
    return Table("Guaranteed", columns, tuple(rows))


def counts_of(guarantee: GapGuarantee) -> list[tuple[str, str, int, int]]:
    """Return the counts that everything follows from, with names."""
    counts = guarantee.counts or ()
    names = group_names(list(dict.fromkeys(_plain(cell.group) for cell in counts)))
    return [
        (
            ", ".join([names[_plain(cell.group)], *_place(cell.column, cell.stratum)]),
            LABELS[cell.label],
            cell.rows,
            cell.positive,
        )
        for cell in counts
    ]


def _place(column: str | None, stratum: object) -> list[str]:
    return [str(part) for part in (column, stratum) if part is not None]


def _plain(group: object) -> object:
    return tuple(group) if isinstance(group, list) else group
