"""The picture of the first screen: a row per group, drawn by the page itself."""

import math
from dataclasses import dataclass

from fairsmooth.metrics.auditing.ratio_records import FOUR_FIFTHS
from fairsmooth.reporting.selection import GroupRate, Selection
from fairsmooth.reporting.wording import SIGN, percent

# More rows than this would not fit one screen; those between the ends are folded away.
MOST_ROWS, SHOWN_ENDS = 10, 4
# Widths of the frame that a reader can halve and quarter, in percent of people.
_FRAMES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.16, 0.2, 0.3, 0.4, 0.6, 0.8)


@dataclass(frozen=True)
class Row:
    """One group; places are shares of the frame, in percent."""

    name: str
    value: str
    place: float
    left: float
    width: float
    beside: tuple[float, ...]


@dataclass(frozen=True)
class Picture:
    """Rows in the order of their rates.

    Attributes
    ----------
    rows, folded, last : tuple of Row
        The least selected; those between, where there are many groups; the most selected.
    ticks : tuple of (float, str)
    limit : float or None
        Where four fifths of the highest rate lie.
    beside : tuple of str
        The models that the hollow marks are of.
    alt : str
        The picture in words.
    """

    rows: tuple[Row, ...]
    folded: tuple[Row, ...]
    last: tuple[Row, ...]
    ticks: tuple[tuple[float, str], ...]
    limit: float | None
    beside: tuple[str, ...]
    alt: str

    @classmethod
    def of(cls, selection: Selection) -> "Picture":
        """Draw the rates within a frame that holds every interval."""
        groups = selection.groups
        reach = max(max(g.high, *(rate for _, rate in g.beside), 0.0) for g in groups)
        frame = next((width for width in _FRAMES if width >= reach), 1.0)
        rows = tuple(_row(group, frame) for group in groups)
        ends = len(rows) > MOST_ROWS
        cut = SHOWN_ENDS if ends else len(rows)
        highest = selection.highest.rate
        return cls(
            rows=rows[:cut],
            folded=rows[SHOWN_ENDS:-SHOWN_ENDS] if ends else (),
            last=rows[-SHOWN_ENDS:] if ends else (),
            ticks=tuple((25.0 * i, f"{25.0 * frame * i:g}{SIGN}") for i in range(5)),
            limit=100.0 * FOUR_FIFTHS * highest / frame if len(rows) > 1 and highest > 0 else None,
            beside=tuple(other.name for other in selection.beside),
            alt="Share of each group that is selected: "
            + "; ".join(f"{group.name} {percent(group.rate)}" for group in groups),
        )


def _row(group: GroupRate, frame: float) -> Row:
    def place(rate: float) -> float:
        return round(100.0 * min(rate / frame, 1.0), 3)

    left = place(group.low)
    assert math.isfinite(left)
    beside = tuple(place(rate) for _, rate in group.beside)
    width = round(place(group.high) - left, 3)
    return Row(group.name, percent(group.rate), place(group.rate), left, width, beside)
