"""What deserves a second look in a table: one line each, never fatal, never silent."""

import unicodedata

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth.core.labels import group_text
from fairsmooth.data.kinds import kind_of
from fairsmooth.data.roles import Roles, not_features, sensitive_frame
from fairsmooth.data.values import _factorize, normal_codes, normal_texts, numbers

MANY_VALUES = 20
FEW_ROWS = 100
FEW_PER_CELL = 20
_MOSTLY = 0.9
_SHOWN = 3
# A column with more values than this is no copy of a label; the first rows mostly tell.
_MANY, _FIRST, _GLANCE = 1000, 100_000, 100


def sanity_notes(table: pd.DataFrame, roles: Roles) -> list[str]:
    """Return all notes on a table in normal form whose rows have label and groups."""
    skipped = set(not_features(table, roles))
    features = [name for name in table.columns if name not in skipped]
    return [
        *role_notes(table, roles),
        *(note for name in features for note in identifier(name, table[name])),
        *(note for name in features for note in mostly_numbers(name, table[name])),
        *(note for name in features for note in copies(name, table, roles)),
    ]


def role_notes(table: pd.DataFrame, roles: Roles) -> list[str]:
    """Return the notes on label and sensitive columns."""
    parts = [roles.label, *roles.sensitive]
    return [
        *many_groups(table, roles),
        *few_rows(table, roles),
        *(note for name in parts for note in spelling_variants(name, table[name])),
    ]


def many_groups(table: pd.DataFrame, roles: Roles) -> list[str]:
    """Note sensitive columns with more than 20 values, and offer bands for numbers."""
    notes = []
    for name, texts in sensitive_frame(table, roles).items():
        count = texts.nunique()
        if count > MANY_VALUES:
            offer = f" {name}:4 makes four quantile bands." if _is_number(table[name]) else ""
            notes.append(
                f"Sensitive column {name!r} has {count} values, each a group of its own.{offer}"
            )
    return notes


def few_rows(table: pd.DataFrame, roles: Roles) -> list[str]:
    """Note a table of fewer than 100 rows, and fewer than 20 of a group with one label."""
    notes = []
    if len(table) < FEW_ROWS:
        notes.append(f"The table has {len(table)} rows; with fewer than {FEW_ROWS}, trust little.")
    cells = sensitive_frame(table, roles).assign(
        **{_unused(roles): normal_texts(roles.label, table[roles.label]).to_numpy()}
    )
    counts = cells.value_counts()
    small = counts[counts < FEW_PER_CELL]
    if len(small):
        *group, label = small.index[-1]
        notes.append(
            f"{len(small)} of {len(counts)} combinations of group and label have fewer than "
            f"{FEW_PER_CELL} rows; the smallest is {group_text(tuple(group))} with label "
            f"{label}: {int(small.iloc[-1])}."
        )
    return notes


def spelling_variants(name: str, column: pd.Series) -> list[str]:
    """Note values that differ in capitals, spaces, unseen signs or ways to write a letter only.

    Such as ``male`` and ``Male``; an é may be one character, or an e and an accent; a space of
    no width, as web pages have it, cannot be seen.
    """
    _, texts = normal_codes(name, column)
    folded: dict[str, list[str]] = {}
    for text in sorted(texts):
        plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        seen = "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")
        folded.setdefault(" ".join(seen.split()), []).append(text)
    same = [" and ".join(_told_apart(group)) for group in folded.values() if len(group) > 1]
    return [f"Column {name!r} has {_few(same)}, which count as different."] if same else []


def identifier(name: str, column: pd.Series) -> list[str]:
    """Note a feature whose values are all different texts or whole numbers."""
    known = column.dropna()
    first = known.iloc[:_FIRST]
    if len(known) < FEW_PER_CELL or first.nunique() < len(first) or known.nunique() < len(known):
        return []
    if kind_of(column) == "number":
        values = numbers(name, known).values
        if (values != np.round(values)).any():
            return []
    elif kind_of(column) != "text":
        return []
    return [f"Column {name!r} differs in every row, as an identifier does; name it in ids."]


def mostly_numbers(name: str, column: pd.Series) -> list[str]:
    """Note a feature that is text because of a few of its values."""
    if kind_of(column) != "text" or isinstance(column.dtype, pd.CategoricalDtype):
        return []
    return mostly_number_texts(name, normal_codes(name, column)[1])


def mostly_number_texts(name: str, texts: list[str]) -> list[str]:
    """Note the same of a column that has these texts, whatever its type."""
    read = numbers(name, pd.Series(texts, dtype=object))
    codes = [text for text in texts if text[:1] == "0" and text[1:2].isdecimal()]
    if codes or len(texts) < 10 or read.wrong.mean() > 1 - _MOSTLY:
        return []
    odd = [repr(text) for text, wrong in zip(texts, read.wrong, strict=True) if wrong]
    return (
        [f"Column {name!r} is read as text, not as numbers, because of {_few(odd)}."] if odd else []
    )


def copies(name: str, table: pd.DataFrame, roles: Roles) -> list[str]:
    """Note a feature that maps one to one to the label or to a sensitive column."""
    return [
        f"Column {name!r} is a copy of the {what} {other!r}: each of its values goes with one of "
        f"{other!r}. Drop it unless it is known before the outcome."
        if what == "label"
        else f"Column {name!r} is a copy of the {what} {other!r}: predictions can tell the group."
        for other, what in (
            (roles.label, "label"),
            *((s, "sensitive column") for s in roles.sensitive),
        )
        if other != name and _one_to_one(name, table[name], other, table[other])
    ]


def _one_to_one(name: str, column: pd.Series, other: str, target: pd.Series) -> bool:
    if _differ_at_once(name, column.iloc[:_GLANCE], other, target.iloc[:_GLANCE]):
        return False
    if any(part.nunique(dropna=False) > _MANY for part in (column.iloc[:_FIRST], column)):
        return False
    first, _ = normal_codes(name, column)
    second, _ = normal_codes(other, target)
    return 1 < _different(second) == _different(first) == _pairs(first, second)


def _differ_at_once(name: str, column: pd.Series, other: str, target: pd.Series) -> bool:
    """Tell whether a few rows show that values do not go one to one, as they nearly always do.

    Values as they stand are no coarser than their normal texts, which take longer to make; numbers
    are as many as their texts.
    """
    first, second = _factorize(name, column)[0], normal_codes(other, target)[0]
    found = _different(first)
    numbers_differ = pd.api.types.is_float_dtype(column.dtype) and found != _different(second)
    return numbers_differ or _pairs(first, second) > found


def _pairs(first: NDArray[np.intp], second: NDArray[np.intp]) -> int:
    # Codes are small whole numbers from -1 on: counting them is much faster than sorting them.
    values = int(second.max(initial=-1)) + 2
    return int(np.count_nonzero(np.bincount((first + 1) * values + second + 1)))


def _different(codes: NDArray[np.intp]) -> int:
    return int(np.count_nonzero(np.bincount(codes + 1)))


def _is_number(column: pd.Series) -> bool:
    return kind_of(column) == "number"


def _unused(roles: Roles) -> str:
    """Return a name for the label that no sensitive column has."""
    return "label of " + " ".join((*roles.sensitive, roles.label))


def _told_apart(texts: list[str]) -> list[str]:
    """Return texts in quotes, with the codes of their letters where they would look the same."""
    looks = {unicodedata.normalize("NFKC", text) for text in texts}
    return [repr(text) if len(looks) == len(texts) else ascii(text) for text in texts]


def _few(values: list[str]) -> str:
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(values[:_SHOWN]) + more
