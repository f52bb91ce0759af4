"""Which column of a table plays which part: label, sensitive, features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth.exceptions import InputError


@dataclass(frozen=True)
class Roles:
    """Which column of a table plays which part.

    Attributes
    ----------
    label : str
        The column to predict.
    sensitive : tuple of str
        The columns whose combinations are the groups.
    positive : str or None
        Text of the positive label; the larger of the two if left out.
    drop : tuple of str
        Columns not to use.
    include_sensitive : bool
        Whether the sensitive columns are features too.
    unknown : {"error", "ignore"}
        What the model does, once trained, with a category it has not seen.
    """

    label: str
    sensitive: tuple[str, ...]
    positive: str | None = None
    drop: tuple[str, ...] = ()
    include_sensitive: bool = False
    unknown: str = "error"


def label_codes(column: Any, roles: Roles) -> tuple[NDArray[np.int64], tuple[Any, Any]]:
    """Return 0/1 codes and the two values they stand for, the negative one first."""
    missing = int(column.isna().sum())
    if missing:
        raise InputError(
            f"Expected a label in every row of {roles.label!r}, got {missing} missing. "
            "Drop those rows."
        )
    values = sorted(column.unique().tolist(), key=lambda value: (str(type(value)), value))
    if len(values) != 2:
        shown = ", ".join(map(repr, values[:5])) + (", …" if len(values) > 5 else "")
        raise InputError(
            f"Expected a label with 2 values in {roles.label!r}, got {len(values)}: {shown}."
        )
    if roles.positive is not None:
        texts = [str(value) for value in values]
        if roles.positive not in texts:
            raise InputError(
                f"Expected --positive to be one of {texts} (the values of {roles.label!r}), "
                f"got {roles.positive!r}."
            )
        if texts.index(roles.positive) == 0:
            values.reverse()
    codes = (column == values[1]).to_numpy().astype(np.int64)
    return codes, (values[0], values[1])


def known_label_codes(column: Any, notes: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return 0/1 codes of labels that the model already knows, compared by their text."""
    texts = column.astype(str)
    negative, positive = str(notes["negative"]), str(notes["positive"])
    unknown = sorted(set(texts) - {negative, positive})
    if unknown:
        raise InputError(
            f"Expected the labels {negative!r} and {positive!r} in {notes['label']!r}, "
            f"got {unknown[:5]}."
        )
    return (texts == positive).to_numpy().astype(np.int64)


def require_columns(table: pd.DataFrame, roles: Roles) -> None:
    """Refuse a table that lacks a column named, or a label that is sensitive too."""
    for column in (roles.label, *roles.sensitive, *roles.drop):
        _validate.known_column(column, list(table.columns), where="the table")
    if roles.label in roles.sensitive:
        raise InputError(
            f"Expected label and sensitive columns to differ, got {roles.label!r} twice."
        )


def not_features(table: pd.DataFrame, roles: Roles) -> list[str]:
    """Return the columns that prediction must not see."""
    sensitive: Sequence[str] = () if roles.include_sensitive else roles.sensitive
    unused = [roles.label, *sensitive, *roles.drop]
    if set(table.columns) <= set(unused):
        raise InputError(
            "Expected at least one column to predict from, got none besides those named."
        )
    return unused
