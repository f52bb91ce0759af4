"""The rules for one column, and what was decided about it that its owner should know."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fairsmooth.data.columns import Binned, Categories, DatePart, Rule, Standardised
from fairsmooth.data.columns.categories import count_texts
from fairsmooth.data.columns.codes import Column
from fairsmooth.data.kinds import kind_of
from fairsmooth.data.values import Read, numbers, unusable
from fairsmooth.exceptions import InputError

# A column of text with too many categories is taken for an identifier if this share of its
# values are different.
IDENTIFIER_SHARE = 0.9
# The rules of a column, and a note if one is due.
Learned = tuple[list[Rule], str | None]


@dataclass(frozen=True)
class Settings:
    """What becomes of numbers and of many categories; see :class:`TableEncoder`."""

    numeric: str
    n_bins: int
    max_categories: int


def learn_column(name: str, column: Column, settings: Settings) -> Learned:
    """Return the rules for a column, none if it is left out, and a note if one is due."""
    kind = kind_of(column)
    if kind == "empty":
        return [], f"Column {name!r} has no values and is left out."
    if kind == "date":
        return noted(name, [*DatePart.learn(name, column, n_bins=settings.n_bins)])
    if kind == "number" or (kind == "boolean" and not column.isna().any()):
        return noted(name, _of_numbers(name, column, settings))
    if kind in ("boolean", "text"):
        counts, n_missing = count_texts(name, column)
        return of_texts(name, counts, missing=n_missing > 0, settings=settings)
    raise unusable(name, kind)


def noted(name: str, rules: list[Rule]) -> tuple[list[Rule], str | None]:
    """Return rules, or the note that there are none."""
    return rules, None if rules else f"Column {name!r} has one value in all rows and is left out."


def finite_numbers(name: str, column: Column) -> Read:
    """Read a column of numbers, refusing those that are not finite."""
    read = numbers(name, column)
    if read.wrong.any():
        row = int(np.argmax(read.wrong))
        raise InputError(
            f"Expected finite numbers in column {name!r}, got {int(read.wrong.sum())} infinite "
            f"(the first in row {row + 1}). Correct them, or drop the rows or the column."
        )
    return read


def _of_numbers(name: str, column: Column, settings: Settings) -> list[Rule]:
    read = finite_numbers(name, column)
    known, missing = read.values[~read.missing], bool(read.missing.any())
    if settings.numeric == "standardised" and len(np.unique(known)) > 2:
        return [Standardised.learn(name, known, missing=missing)]
    bins = Binned.learn(name, known, n_bins=settings.n_bins, missing=missing)
    return [] if bins.is_constant else [bins]


def of_texts(
    name: str, counts: Mapping[str, int], *, missing: bool, settings: Settings
) -> tuple[list[Rule], str | None]:
    """Return the rule for categories that occur so often, and a note if one is due."""
    n_values, most = sum(counts.values()), settings.max_categories
    if len(counts) > most and len(counts) >= IDENTIFIER_SHARE * n_values:
        return [], (
            f"Column {name!r} looks like an identifier ({len(counts)} different texts in "
            f"{n_values} rows) and is left out."
        )
    rule = Categories.of_counts(name, counts, missing=missing, max_categories=most)
    if len(counts) > most:
        return [rule], (
            f"Column {name!r} has {len(counts)} categories; all but the {len(rule.values)} most "
            "frequent count as one, 'other'."
        )
    return noted(name, [] if rule.is_constant else [rule])
