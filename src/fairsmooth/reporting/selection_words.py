"""Who is selected less, and by how much, in words."""

from collections.abc import Iterator
from math import isnan

from fairsmooth.core.outward import lower_text, upper_text
from fairsmooth.metrics.auditing.ratio_records import FOUR_FIFTHS, four_fifths
from fairsmooth.reporting.selection import GroupRate, Selection
from fairsmooth.reporting.wording import hundredths, listed, percent, percent_range, points, sure

# So many groups without rows are named; of more, their number is told.
FEW = 5


def selected_sentences(selection: Selection | None) -> Iterator[str]:
    """Say who is selected least and most, how far apart they are, and the impact ratio."""
    if selection is None:
        yield "Rates of the groups are not shown here."
        return
    yield from _rates(selection)
    if selection.absent:
        few = len(selection.absent) <= FEW
        which = listed(selection.absent) if few else f"{len(selection.absent)} groups"
        yield f"Nothing was measured of {which}: there are no rows of theirs here."
    if selection.weighted:
        yield "Every row counts by its weight; the intervals are approximate."


def _rates(selection: Selection) -> Iterator[str]:
    low, high = selection.lowest, selection.highest
    if low is high:
        yield f"{_rate(low, selection)} It is the only group with rows."
        return
    yield f"{_rate(low, selection)} {_rate(high, selection, short=True)}{_between(selection)}"
    if selection.gap is not None:
        ends = ""
        if selection.gap.low is not None and selection.gap.high is not None:
            ends = f" ({hundredths(selection.gap.low, selection.gap.high)})"
        pair = f"The furthest pair, {low.name} and {high.name},"
        yield f"{pair} is {points(selection.gap.value)} apart{ends}."
    yield from _ratio(selection)


def _rate(group: GroupRate, selection: Selection, *, short: bool = False) -> str:
    ends, named = "", ""
    if selection.confidence is not None:
        ends = f" ({percent_range(group.low, group.high)})"
        named = f" ({sure(selection.confidence)} interval: {ends[2:]}"
    if short:
        return f"Of {group.name} it is {percent(group.rate)}{ends}."
    return f"{percent(group.rate)} of {group.name} are selected{named}."


def _between(selection: Selection) -> str:
    others = len(selection.groups) - 2
    if not others:
        return ""
    return f" The {others} other groups lie between." if others > 1 else " One group lies between."


def _ratio(selection: Selection) -> Iterator[str]:
    ratio = selection.ratio
    if ratio is None:
        return
    if selection.highest.rate == 0.0:
        yield "Nobody is selected in any group; the impact ratio, 0 by 0, counts as 1."
        return
    ends = ""
    if ratio.low is not None and ratio.high is not None:
        ends = f" ({lower_text(ratio.low, 2)} to {upper_text(ratio.high, 2)})"
    verdict = four_fifths(ratio.value)
    low, high = selection.lowest.name, selection.highest.name
    telling = ""
    if ratio.low is not None and ratio.high is not None:
        told = ratio.low >= FOUR_FIFTHS if verdict == "kept" else ratio.high < FOUR_FIFTHS
        telling = "" if told else "; they cannot tell whether it is among all people"
    yield (
        f"{low} are selected {_times(ratio.value)} times as often as {high}{ends}: the four-fifths "
        f"rule, which asks for at least {FOUR_FIFTHS:.2f}, is {verdict} on these rows{telling}."
    )


def _times(ratio: float) -> str:
    """Print a ratio with two decimals, or as many as show on which side of four fifths it is."""
    texts = (f"{ratio:.{digits}f}" for digits in range(2, 13))
    return next((t for t in texts if four_fifths(float(t)) == four_fifths(ratio)), repr(ratio))


def beside_sentences(selection: Selection | None) -> Iterator[str]:
    """Say how other models fare on the same rows, and how accurate this one is beside them."""
    for other in selection.beside if selection is not None else ():
        accuracy = "" if other.accuracy is None else f", accuracy {percent(other.accuracy)}"
        name = f"{other.name[:1].upper()}{other.name[1:]}"
        # One group has no gap, and nobody selected no ratio.
        far = "" if isnan(other.gap) else f", {points(other.gap)} apart"
        far += "" if isnan(other.ratio) else f", ratio {other.ratio:.2f}"
        if far or accuracy:
            yield f"{name} on the same rows: {(far + accuracy).removeprefix(', ')}."
    if selection is not None and selection.beside and selection.accuracy is not None:
        yield f"This model: accuracy {percent(selection.accuracy.value)}."
