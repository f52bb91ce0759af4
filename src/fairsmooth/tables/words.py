"""A model of a table in plain words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairsmooth.tables.model import TableModel

_MEASURED = ("accuracy", "demographic_parity", "equalized_odds_sum", "equalized_odds_max")


def in_words(model: "TableModel") -> Iterator[str]:
    """Yield what the model is, what is certified and guaranteed, and what was measured."""
    known = model.provenance
    if known is not None:
        yield from known.lines()
    yield from str(model.certificate).splitlines()
    if model.guarantee is not None:
        yield from str(model.guarantee).splitlines()
    if model.measured is not None:
        figures = model.measured.summary()
        yield f"Measured on {model.measured.n_rows:,} held-out rows:"
        for name in _MEASURED:
            if figures[name] is not None:
                yield f"  {name.replace('_', ' ')}: {figures[name]:.4f}"
    if known is not None:
        yield from (f"Note: {note}" for note in known.notes)
