"""Which column of a table plays which part: label, sensitive, identifiers, features."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth.data.banding import Banding, parse_bands
from fairsmooth.data.groups import refuse_probabilities
from fairsmooth.data.values import normal_codes, normal_text, normal_texts
from fairsmooth.exceptions import InputError

# Pairs of label values, the positive one last, that need no explanation.
UNMISTAKABLE = (
    ("0", "1"), ("-1", "1"), ("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"),
)  # fmt: skip


@dataclass(frozen=True)
class Roles:
    """Which column of a table plays which part.

    Attributes
    ----------
    label : str
        The column to predict.
    sensitive : tuple of str
        The columns whose combinations are the groups. ``age:4`` asks for four quantile
        bands of a number; see :func:`with_bands`.
    positive : str or None
        Text of the positive label; needed unless the two values are unmistakable.
    drop : tuple of str
        Columns not to use.
    ids : tuple of str
        Columns that name rows: kept beside predictions, never used.
    include_sensitive : bool
        Whether the sensitive columns are features too.
    unknown : {"error", "ignore"}
        What the model does, once trained, with a category it has not seen.
    bandings : tuple of Banding
        Bands of sensitive columns that are numbers, learned from training rows.
    """

    label: str
    sensitive: tuple[str, ...]
    positive: str | None = None
    drop: tuple[str, ...] = ()
    include_sensitive: bool = False
    unknown: str = "error"
    ids: tuple[str, ...] = ()
    bandings: tuple[Banding, ...] = ()


def with_bands(roles: Roles, training: pd.DataFrame) -> Roles:
    """Replace ``age:4`` among the sensitive columns by the bands that training rows give."""
    names, bands = parse_bands(roles.sensitive, list(training.columns))
    for name in bands:
        _validate.known_column(name, list(training.columns), where="the table")
    learned = tuple(
        Banding.learn(name, training[name], n_bands=count) for name, count in bands.items()
    )
    return replace(roles, sensitive=names, bandings=(*roles.bandings, *learned))


def sensitive_frame(
    table: pd.DataFrame, roles: Roles, *, quantities: Collection[str] = ()
) -> pd.DataFrame:
    """Return the groups of every row as normal texts, one column per sensitive column.

    ``quantities`` names columns that are still to be cut into bands, whose numbers need not
    be whole.
    """
    bandings = {banding.name: banding for banding in roles.bandings}
    for name in roles.sensitive:
        if name not in bandings and name not in quantities:
            refuse_probabilities(table[name])
    columns = {
        name: bandings[name].apply(table[name])
        if name in bandings
        else normal_texts(name, table[name])
        for name in roles.sensitive
    }
    return pd.DataFrame(columns).set_axis(table.index)


def usable_rows(
    table: pd.DataFrame, roles: Roles, *, strict: bool = False, quantities: Collection[str] = ()
) -> tuple[NDArray[np.bool_], list[str]]:
    """Tell which rows have a label and a group, with a note on those that have not.

    Of a table without the label column, which rows have a group. For ``quantities`` see
    :func:`sensitive_frame`.

    Raises
    ------
    InputError
        With ``strict``, if a row lacks one of them.
    """
    groups = sensitive_frame(table, roles, quantities=quantities)
    parts: dict[Any, pd.Series] = {**groups}
    if roles.label in table.columns:
        parts = {roles.label: normal_texts(roles.label, table[roles.label]), **parts}
    usable = np.ones(len(table), dtype=bool)
    notes = []
    for name, texts in parts.items():
        missing = texts.isna().to_numpy()
        if not missing.any():
            continue
        what = "label" if name == roles.label else "sensitive value"
        count, first = int(missing.sum()), int(np.argmax(missing)) + 1
        if strict:
            raise InputError(
                f"Expected a {what} in every row of {name!r}, got {count} missing "
                f"(the first in row {first}). Fill them in or drop those rows."
            )
        notes.append(
            f"{count} {'row has' if count == 1 else 'rows have'} no {what} in {name!r} and "
            f"{'is' if count == 1 else 'are'} left out (the first is row {first})."
        )
        usable &= ~missing
    return usable, notes


def label_codes(column: pd.Series, roles: Roles) -> tuple[NDArray[np.int64], tuple[str, str]]:
    """Return 0/1 codes and the two values they stand for as normal texts, the negative first."""
    codes, texts = normal_codes(roles.label, column)
    missing = int((codes < 0).sum())
    if missing:
        raise InputError(
            f"Expected a label in every row of {roles.label!r}, got {missing} missing. "
            "Drop those rows."
        )
    negative, positive = label_pair(texts, roles)
    return (codes == texts.index(positive)).astype(np.int64), (negative, positive)


def label_pair(texts: Collection[str], roles: Roles) -> tuple[str, str]:
    """Return the negative and the positive one of the texts that labels have."""
    values = sorted(texts)
    if not values:
        raise InputError(
            f"Expected a label with 2 values in {roles.label!r}, got no row that can be used. "
            "Give a table with rows that have a label and a group."
        )
    if len(values) != 2:
        shown = ", ".join(map(repr, values[:5])) + (", …" if len(values) > 5 else "")
        raise InputError(
            f"Expected a label with 2 values in {roles.label!r}, got {len(values)}: {shown}."
        )
    positive = _positive(values, roles)
    return values[1 - values.index(positive)], positive


def _positive(values: Sequence[str], roles: Roles) -> str:
    given = normal_text(roles.positive)
    if given is not None:
        if given not in values:
            raise InputError(
                f"Expected positive to be one of {list(values)} (the values of {roles.label!r}), "
                f"got {roles.positive!r}."
            )
        return given
    for pair in UNMISTAKABLE:
        if {value.lower() for value in values} == set(pair):
            return next(value for value in values if value.lower() == pair[1])
    raise InputError(
        f"Expected positive to be named for {roles.label!r}, whose values are {values[0]!r} and "
        f"{values[1]!r}, got none. Say which of the two is the positive one."
    )


def known_label_codes(column: pd.Series, notes: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return 0/1 codes of labels that the model already knows, compared by their normal text."""
    codes, texts = normal_codes(str(notes["label"]), column)
    negative, positive = normal_text(notes["negative"]), normal_text(notes["positive"])
    unknown = sorted(set(texts) - {str(negative), str(positive)})
    if unknown or (codes < 0).any():
        shown = unknown[:5] or "a missing one"
        raise InputError(
            f"Expected the labels {negative!r} and {positive!r} in {notes['label']!r}, got {shown}."
        )
    return np.array([*(text == positive for text in texts), False])[codes].astype(np.int64)


def name_of(column: Any) -> str:
    """Return the name of a column as text, as every table here has it: numbers are names too.

    Examples
    --------
    >>> name_of("age"), name_of(3)
    ('age', '3')
    """
    if isinstance(column, str):
        return str(column)
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        return str(column)
    raise InputError(f"Expected the name of a column, got {column!r}. Give it as text.")


def names_of(columns: Any) -> tuple[str, ...]:
    """Return names of columns, of which one may stand by itself, or none be given.

    Examples
    --------
    >>> names_of("age"), names_of(["age", 3]), names_of(None)
    (('age',), ('age', '3'), ())
    """
    if columns is None:
        return ()
    several = isinstance(columns, Iterable) and not isinstance(columns, str)
    return tuple(map(name_of, columns)) if several else (name_of(columns),)


def require_columns(table: Any, roles: Roles) -> None:
    """Refuse a table that lacks a column named, or one that plays two parts at once."""
    if not roles.sensitive:
        raise InputError("Expected at least one sensitive column, got none. Name it.")
    sensitive, _ = parse_bands(roles.sensitive, list(table.columns))
    for column in (roles.label, *sensitive, *roles.drop, *roles.ids):
        _validate.known_column(column, list(table.columns), where="the table")
    if roles.label in sensitive:
        raise InputError(
            f"Expected label and sensitive columns to differ, got {roles.label!r} twice."
        )
    if len(set(sensitive)) < len(sensitive):
        raise InputError(f"Expected every sensitive column once, got {list(sensitive)}.")


def not_features(table: Any, roles: Roles) -> list[str]:
    """Return the columns that prediction must not see."""
    named, _ = parse_bands(roles.sensitive, list(table.columns))
    sensitive: Sequence[str] = () if roles.include_sensitive else named
    unused = [*dict.fromkeys([roles.label, *sensitive, *roles.drop, *roles.ids])]
    if set(table.columns) <= set(unused):
        raise InputError(
            "Expected at least one column to predict from, got none besides those named."
        )
    return unused
