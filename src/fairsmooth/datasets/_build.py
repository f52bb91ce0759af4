"""From an embedded table to a dataset: the steps that the loaders of tables share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.datasets._base import FairDataset
from fairsmooth.datasets._embedded import read_table
from fairsmooth.exceptions import InputError

ENCODINGS = ("binned", "aif360", "aif360-blind", "raw")
SENSITIVE = ("sex", "race")

Merge = Callable[["pd.Series[str]"], "pd.Series[str]"]


@dataclass(frozen=True)
class EmbeddedTable:
    """A table of people inside the package, and what its encodings need to know.

    Attributes
    ----------
    name : str
        Of the dataset, and of its Parquet file.
    checksum : str
        SHA-256 of that file.
    description, label : str
        As :class:`FairDataset` has them.
    target : callable
        Takes the labels, 0 or 1, out of the table.
    races : mapping
        From what ``race`` may be to how the published races are merged.
    coarse : callable
        From the table to the binary columns of the "aif360" encoding.
    unused : tuple of str
        Columns that "binned" leaves out besides the sensitive ones.
    official : str or None
        Column that marks the official training part, if there is one.
    """

    name: str
    checksum: str
    description: str
    label: str
    target: Callable[[pd.DataFrame], NDArray[np.int64]]
    races: Mapping[str, Merge]
    coarse: Callable[[pd.DataFrame], pd.DataFrame]
    unused: tuple[str, ...] = ()
    official: str | None = None

    def load(
        self,
        encoding: str,
        sensitive: str | Sequence[str],
        *,
        race: str,
        include_sensitive: bool | None,
    ) -> FairDataset:
        """Return the dataset; the arguments are those of the loaders."""
        _validate.one_of(tuple(self.races), race=race)
        _validate.one_of(ENCODINGS, encoding=encoding)
        table = read_table(f"{self.name}.parquet", self.checksum)
        y = self.target(table)
        official = None if self.official is None else table.pop(self.official).to_numpy(bool)
        available = {"sex": table["sex"], "race": self.races[race](table["race"])}
        shown = encoding == "aif360" if include_sensitive is None else include_sensitive
        return FairDataset(
            y=y,
            sensitive_features=sensitive_columns(available, sensitive),
            name=self.name,
            description=f"{self.description} Encoding: {encoding}.",
            label=self.label,
            encoding=encoding,
            official_train=official,
            **self._encoded(table, encoding, () if shown else SENSITIVE, learn_on=official),
        )

    def _encoded(
        self,
        table: pd.DataFrame,
        encoding: str,
        hidden: tuple[str, ...],
        *,
        learn_on: NDArray[np.bool_] | None,
    ) -> dict[str, Any]:
        """Return the fields of a dataset that depend on the encoding."""
        if encoding == "raw":
            return {"X": table.drop(columns=list(hidden))}
        if encoding.startswith("aif360"):
            return {"X": self.coarse(table).drop(columns=list(hidden))}
        usable = table.drop(columns=[*hidden, *self.unused])
        # A rare category can miss the training part: it is then no reason to stop.
        encoder = TableEncoder.learn(
            usable if learn_on is None else usable[learn_on], unknown="ignore"
        )
        return {"X": encoder.transform(usable), "encoder": encoder, "_table": usable}


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
