"""Other values that a column could have: some for each thing that its rules can tell apart."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth.data.columns import Binned, Categories, DatePart, Rule, Standardised
from fairsmooth.data.values import LARGEST_EXACT

KNOWN = (Binned, Categories, DatePart, Standardised)
# Numbers that are scaled are tried on a grid, in standard deviations.
REACH, STEPS = 6.0, 241
# Nobody can be told to change a number by less.
MOST_DECIMALS = 6


def alternatives(rules: Sequence[Rule]) -> list[Any]:
    """Return values of every level of a column, None for a missing one where training had some.

    Of an interval of numbers these are its ends, the lower one in the decimals of the cuts.

    Examples
    --------
    >>> alternatives([Binned("age", (20.0, 30.0), missing=True)])
    [20.0, 21.0, 30.0, 31.0, None]
    """
    first = rules[0]
    gap = [None] if any(rule.missing for rule in rules) else []
    if isinstance(first, Categories):
        return [*first.values, *([_unseen(first.values)] if first.other else []), *gap]
    if isinstance(first, Binned):
        return [*_numbers(first.edges), *gap]
    if isinstance(first, Standardised):
        grid = first.mean + first.scale * np.linspace(-REACH, REACH, STEPS)
        return [*grid.tolist(), *gap]
    return [*_dates([rule for rule in rules if isinstance(rule, DatePart)]), *gap]


def _numbers(edges: Sequence[float]) -> list[float]:
    """Return both ends of every interval, since either may be the nearest to a number."""
    if not edges:
        return [0.0]
    digits = max(map(_decimals, edges))
    ends = [edges[0]]
    for low, high in pairwise((*edges, np.inf)):
        ends += [_above(low, high, digits), high]
    return list(dict.fromkeys(ends[:-1]))


def _decimals(edge: float) -> int:
    exponent = Decimal(repr(edge)).as_tuple().exponent
    return min(max(-int(exponent), 0), MOST_DECIMALS) if edge != int(edge) else 0


def _above(low: float, high: float, digits: int) -> float:
    """Return the least number of so many decimals above one, or the very next if that is beyond."""
    if abs(low) < LARGEST_EXACT:
        unit = Decimal(1).scaleb(-digits)
        value = float(Decimal(repr(low)).quantize(unit, ROUND_FLOOR) + unit)
        if low < value <= high:
            return value
    return float(np.nextafter(low, np.inf))


def _dates(rules: Sequence[DatePart]) -> list[pd.Timestamp]:
    """Return a day for every year interval, month and weekday."""
    edges = {rule.part: rule.edges for rule in rules}
    years = [int(year) for year in edges.get("year") or (1999,)]
    years = [year for year in (*years, years[-1] + 1) if 1 <= year <= 9999]
    months = range(1, 13) if "month" in edges else (1,)
    days = range(1, 8) if "weekday" in edges else (1,)
    return [pd.Timestamp(year, month, day) for year, month, day in product(years, months, days)]


def nearest_day(
    rules: Sequence[DatePart], days: Sequence[pd.Timestamp], today: pd.Timestamp
) -> tuple[int, pd.Timestamp]:
    """Return the nearest day that the rules cannot tell from one of some days, and from which."""
    years = [edge for rule in rules if rule.part == "year" for edge in rule.edges] or [today.year]
    first, last = min(*years, today.year - 1), max(*years, today.year) + 1
    bounds = [f"{int(np.clip(year, 1, 9999)):04}" for year in (first, last)]
    # Every month has every weekday, so that a year of an interval has all its levels.
    calendar = np.arange(f"{bounds[0]}-01-01", f"{bounds[1]}-12-31", dtype="datetime64[D]")
    wanted = _levels(rules, pd.Series(list(days), dtype="datetime64[s]"))
    levels = _levels(rules, pd.Series(calendar.astype("datetime64[s]")))
    near = calendar[np.isin(levels, wanted)]
    away = np.abs((near - np.datetime64(today.date())).astype(np.int64))
    day = near[np.argmin(away)]
    place = int(np.flatnonzero(wanted == levels[np.searchsorted(calendar, day)])[0])
    return place, pd.Timestamp(day.astype("datetime64[s]"))


def _levels(rules: Sequence[DatePart], days: pd.Series) -> NDArray[np.int64]:
    """Number what the rules can tell apart."""
    number = np.zeros(len(days), dtype=np.int64)
    for rule in rules:
        number = number * (len(rule.edges) + 2) + rule.codes(days).astype(np.int64)
    return number


def _unseen(values: Sequence[str]) -> str:
    text = "other"
    while text in values:
        text += "_"
    return text
