"""Texts that mean a category, for a table of texts that can only be looked up.

The library compares categories by their normal texts, which a graph cannot form. It
can look a text up, so every known category is entered in all the ways that are finite in
number, with a space before and after or without. Other ways to write a number or a date, and
more space around a text, are recognised by their looks: such a row gets no score, where a
wrong one would be possible.
"""

import re
from collections.abc import Iterator
from itertools import product

from fairsmooth.data.columns import Categories
from fairsmooth.data.values import DATE, MISSING_TEXTS, NUMBER, WHOLE

_WHOLE = re.compile(WHOLE)
# What str.strip takes away.
_SPACE = (
    r"[\t-\r\x{1c}-\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}"
    r"\x{3000}]"
)
_PLAIN_DATE = DATE.replace("(?P<day>", "(").replace("(?P<month>", "(").replace("(?P<year>", "(")
# Texts that may mean the same as another text, and among those the ones in normal form: whole
# numbers, decimals of at most 15 digits that Python writes as they are, and days.
AMBIGUOUS = rf"(?s:{_SPACE}.*|.*{_SPACE})|{NUMBER}|{_PLAIN_DATE}"
NORMAL = (
    rf"{WHOLE}|-?[1-9][0-9]{{0,7}}\.([0-9]{{0,6}}[1-9])"
    r"|-?0\.0{0,3}[1-9]([0-9]{0,5}[1-9])?|[0-9]{4}-[0-9]{2}-[0-9]{2}"
)


def spellings(value: str) -> Iterator[str]:
    """Yield the ways to write a category.

    Examples
    --------
    >>> sorted(spellings("0")), len(set(spellings("True")))
    (['+0', '-0', '0'], 16)
    """
    yield value
    if value in ("True", "False"):
        yield from map("".join, product(*((c.lower(), c.upper()) for c in value)))
    elif _WHOLE.fullmatch(value):
        yield from (["-0"] if value == "0" else [])
        yield from ([f"+{value}"] if not value.startswith("-") else [])


def places_of_texts(
    rule: Categories, first: int, *, nothing: int, unusable: int, unknown: str
) -> tuple[dict[str, int], int]:
    """Return the place of every known text of a column, and that of all others.

    A place is that of a feature, or ``nothing`` for a level without one, or
    ``unusable`` for a row that has no score.
    """
    n_levels = len(rule.values) + rule.missing + rule.other
    by_level = [nothing, first] if n_levels == 2 else [first + code for code in range(n_levels)]
    astray = nothing if unknown == "ignore" else unusable
    gap = by_level[len(rule.values)] if rule.missing else astray
    places = dict.fromkeys(MISSING_TEXTS, gap)
    for code, value in enumerate(rule.values):
        places |= dict.fromkeys(spellings(value), by_level[code])
    # A space before or after, as files with ", " between columns have it.
    spaced = {
        f"{before}{text}{after}": place
        for text, place in places.items()
        for before, after in product(("", " "), repeat=2)
    }
    return spaced, by_level[-1] if rule.other else astray
