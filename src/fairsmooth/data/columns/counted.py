r"""Rules for one column whose rows several ranks hold: learned from counts, not from rows.

A quantile is the least value that enough rows do not exceed. Counting them for a guess, all
ranks together, and halving the range of guesses finds it in 64 rounds at most, exactly: there
are :math:`2^{64}` numbers. So the rules are those that all rows in one place would give.

What a rank tells of its own rows: how often categories occur; numbers, where it has few
different ones; a number that fills a bin by itself, with the one before it; and how many rows do
not exceed a guess.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.core.ranks import Ranks
from fairsmooth.data.columns import Binned, DatePart, Rule, Standardised
from fairsmooth.data.columns.binned import FEW_VALUES
from fairsmooth.data.columns.categories import count_texts
from fairsmooth.data.columns.codes import Column
from fairsmooth.data.columns.dates import FEW_VALUES as FEW_OF_A_DATE
from fairsmooth.data.columns.dates import date_parts
from fairsmooth.data.columns.learning import Settings, finite_numbers, noted, of_texts
from fairsmooth.data.kinds import kind_of
from fairsmooth.data.values import unusable
from fairsmooth.exceptions import InputError

_KEYS = np.uint64
_SIGN = _KEYS(1 << 63)
_LARGEST = np.finfo(np.float64).max

Learned = tuple[list[Rule], str | None]


def learn_counted(
    name: str, column: Column, settings: Settings, ranks: Ranks, *, most_texts: int | None = None
) -> Learned:
    """Return the rules for a column of which this rank has some rows, and a note if one is due.

    The rules are those of :func:`fairsmooth.data.columns.learning.learn_column` for the rows of
    all ranks in one place (mean and scale of a standardised number but for rounding). With
    ``most_texts``, a rank that has more different texts than that tells none of them, and the
    column is refused.
    """
    kind = _common_kind(ranks.gather(kind_of(column) if len(column) else "empty"))
    gaps = any(ranks.gather(bool(column.isna().any())))
    if kind == "empty":
        return [], f"Column {name!r} has no values and is left out."
    if kind == "date":
        found, parts = ranks.together(lambda: date_parts(name, column))
        edges = {
            part: _edges(values, settings.n_bins, FEW_OF_A_DATE, ranks)
            for part, values in parts.items()
        }
        return noted(name, [*DatePart.of_edges(name, edges, any(ranks.gather(found)))])
    if kind == "number" or (kind == "boolean" and not gaps):
        return noted(name, _of_numbers(name, column, settings, ranks))
    if kind in ("boolean", "text"):
        counts, missing = _texts_of_all(name, column, ranks, most_texts)
        return of_texts(name, counts, missing=missing, settings=settings)
    raise unusable(name, kind)


def _common_kind(kinds: Sequence[str]) -> str:
    known = [kind for kind in kinds if kind != "empty"]
    return known[0] if known else "empty"


def _texts_of_all(
    name: str, column: Column, ranks: Ranks, most_texts: int | None
) -> tuple[dict[str, int], bool]:
    def count() -> tuple[dict[str, int], int]:
        own, n_missing = count_texts(name, column)
        if most_texts is not None and len(own) > most_texts:
            raise InputError(
                f"Expected at most {most_texts} different texts in column {name!r} on every rank, "
                f"got {len(own)}: categories are named to the other ranks. Name it in ids or drop, "
                "or agree on an encoder beforehand."
            )
        return own, n_missing

    together: dict[str, int] = {}
    told = ranks.gather(ranks.together(count))
    for own, _ in told:
        for text, times in own.items():
            together[text] = together.get(text, 0) + times
    return together, any(n_missing for _, n_missing in told)


def _of_numbers(name: str, column: Column, settings: Settings, ranks: Ranks) -> list[Rule]:
    read = ranks.together(lambda: finite_numbers(name, column))
    known = read.values[~read.missing]
    missing = any(ranks.gather(bool(read.missing.any())))
    if settings.numeric == "standardised" and _few_values(known, 2, ranks) is None:
        return [_standardised(name, known, missing, ranks)]
    rule = Binned(name, _edges(known, settings.n_bins, FEW_VALUES, ranks), missing)
    return [] if rule.is_constant else [rule]


def _standardised(name: str, known: Floats, missing: bool, ranks: Ranks) -> Standardised:
    """Add up twice; in units of a power of two, so that no square overflows."""
    power = max(ranks.gather(int(np.frexp(np.abs(known).max(initial=0.0))[1])))
    unit = np.ldexp(known, -power)
    total, count = ranks.sum([unit.sum(), len(unit)])
    mean = total / count
    (squares,) = ranks.sum([np.square(unit - mean).sum()])
    mean, scale = np.ldexp([mean, np.sqrt(squares / count)], power).tolist()
    return Standardised(name, mean, scale, missing)


def _few_values(known: Floats, few: int, ranks: Ranks) -> list[float] | None:
    """Return all different values if they are at most ``few``, sorted; else None."""
    own = np.unique(known)
    told = ranks.gather(own.tolist() if len(own) <= few else None)
    if any(values is None for values in told):
        return None
    together = sorted({value for values in told for value in values})
    return together if len(together) <= few else None


def _edges(known: Floats, n_bins: int, few: int, ranks: Ranks) -> tuple[float, ...]:
    """Return the edges of :meth:`Binned.learn` for the values of all ranks."""
    known = np.sort(known + 0.0)  # -0.0 is 0.0
    values = _few_values(known, few, ranks)
    if values is not None:
        return tuple(values[:-1])
    (n_rows,) = ranks.sum([len(known)])
    heavy, of_heavy = _heavy_values(known, n_bins, n_rows, ranks)
    others = known[~np.isin(known, heavy)]
    n_others = n_rows - of_heavy.sum()
    found = {*heavy, *_values_before(known, heavy, ranks)}
    if n_others:
        wanted = n_others * np.arange(1, n_bins)
        found |= {*_least_values(lambda at: _at_most(others, at, ranks) * n_bins >= wanted,
                                 n_bins - 1)}  # fmt: skip
    else:
        found.add(min(heavy))
    cuts = np.array(sorted(found))
    # The largest value of all is no cut.
    return tuple(cuts[_at_most(known, cuts, ranks) < n_rows].tolist())


def _heavy_values(
    known: Floats, n_bins: int, n_rows: float, ranks: Ranks
) -> tuple[list[float], Floats]:
    """Return the values that fill a bin by themselves, and how many rows have each.

    Such a value fills a bin of one rank's rows too, so asking for those finds them all.
    """
    values, counts = np.unique(known, return_counts=True)
    told = ranks.gather(values[counts * n_bins >= len(known)].tolist())
    asked = np.array(sorted({value for own in told for value in own}))
    first, after = (np.searchsorted(known, asked, side=side) for side in ("left", "right"))
    counted = ranks.sum(after - first)
    heavy = counted * n_bins >= n_rows
    return asked[heavy].tolist(), counted[heavy]


def _values_before(known: Floats, heavy: Sequence[float], ranks: Ranks) -> list[float]:
    """Return the largest value below each heavy one, if there is any."""
    place = np.searchsorted(known, heavy, side="left")
    own = [float(known[at - 1]) if at else None for at in place.tolist()]
    of_all = zip(*ranks.gather(own), strict=True)
    below = ([value for value in told if value is not None] for told in of_all)
    return [max(values) for values in below if values]


def _at_most(known: Floats, at: Floats, ranks: Ranks) -> Floats:
    """Count, over all ranks, the sorted values that do not exceed each of ``at``."""
    return ranks.sum(np.searchsorted(known, at, side="right"))


def _least_values(enough: Callable[[Floats], NDArray[np.bool_]], count: int) -> list[float]:
    """Return the least numbers for which ``enough`` is true, by halving; it stays true above."""
    low = np.full(count, _key(np.array([-_LARGEST]))[0])
    high = np.full(count, _key(np.array([_LARGEST]))[0])
    while (low < high).any():
        middle = low + (high - low) // _KEYS(2)
        reached = enough(_number(middle))
        high = np.where(reached, middle, high)
        low = np.where(reached, low, middle + _KEYS(1))
        low = np.minimum(low, high)
    return (_number(high) + 0.0).tolist()  # -0.0 is 0.0


def _key(values: Floats) -> NDArray[np.uint64]:
    """Number the floats in their order."""
    bits = values.view(_KEYS)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _number(keys: NDArray[np.uint64]) -> Floats:
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)
