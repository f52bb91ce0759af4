"""From an embedded table to a dataset: the steps that the loaders of tables share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.exceptions import InputError

ENCODINGS = ("binned", "aif360", "raw")
SENSITIVE = ("sex", "race")


@dataclass(frozen=True)
class Encodings:
    """What the three encodings of one table need to know.

    Attributes
    ----------
    coarse : callable
        From the table to the binary columns of the "aif360" encoding.
    unused : tuple of str
        Columns that "binned" leaves out besides the sensitive ones.
    """

    coarse: Callable[[pd.DataFrame], pd.DataFrame]
    unused: tuple[str, ...] = ()

    def apply(
        self,
        table: pd.DataFrame,
        encoding: str,
        *,
        include_sensitive: bool | None,
        learn_on: NDArray[np.bool_] | None = None,
    ) -> dict[str, Any]:
        """Return the fields of a dataset that depend on the encoding."""
        _validate.one_of(ENCODINGS, encoding=encoding)
        if include_sensitive is None:
            include_sensitive = encoding == "aif360"
        hidden = () if include_sensitive else SENSITIVE
        fields: dict[str, Any] = {"encoding": encoding}
        if encoding == "raw":
            return fields | {"X": table.drop(columns=list(hidden))}
        if encoding == "aif360":
            return fields | {"X": self.coarse(table).drop(columns=list(hidden))}
        usable = table.drop(columns=[*hidden, *self.unused])
        # A rare category can miss the training part: it is then no reason to stop.
        encoder = TableEncoder.learn(
            usable if learn_on is None else usable[learn_on], unknown="ignore"
        )
        return fields | {"X": encoder.transform(usable), "encoder": encoder, "_table": usable}


def sensitive_columns(
    available: Mapping[str, "pd.Series[Any]"], sensitive: str | Sequence[str]
) -> "pd.Series[Any] | pd.DataFrame":
    """Pick one sensitive column as a Series, or several as a DataFrame."""
    names = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    if not names or len(set(names)) != len(names):
        raise InputError(f"Expected one or more different sensitive columns, got {sensitive!r}.")
    for name in names:
        _validate.one_of(SENSITIVE, sensitive=name)
    columns = pd.DataFrame({name: available[name] for name in names})
    return columns[sensitive] if isinstance(sensitive, str) else columns


def flags(
    column: "pd.Series[Any]", levels: Sequence[str], conditions: Sequence["pd.Series[bool]"]
) -> pd.DataFrame:
    """Return one 0/1 column per level, named ``column=level``."""
    return pd.DataFrame(
        {
            f"{column.name}={level}": condition.astype(np.float64)
            for level, condition in zip(levels, conditions, strict=True)
        }
    )
