"""A number as a sensitive column: its quantile bands are the groups."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth.data.columns import Binned, plain
from fairsmooth.data.values import Read, numbers
from fairsmooth.exceptions import InputError


@dataclass(frozen=True)
class Banding:
    """Bands ``(edge, next edge]`` of a numeric column, learned from training rows.

    Examples
    --------
    >>> banding = Banding.learn("age", pd.Series([20, 30, 40, 50]), n_bands=2)
    >>> banding.apply(pd.Series([18, 31, None])).tolist()
    ['age<=30', 'age>30', None]
    """

    name: str
    edges: tuple[float, ...]

    @classmethod
    def learn(cls, name: str, column: pd.Series, *, n_bands: int) -> "Banding":
        """Cut at the quantiles of the known numbers."""
        if n_bands < 2:
            raise InputError(f"Expected at least 2 bands of column {name!r}, got {n_bands}.")
        read = quantities(name, column)
        known = read.values[~read.missing]
        if not len(known) or known.min() == known.max():
            raise InputError(f"Expected different numbers in column {name!r}, got one or none.")
        cuts = np.quantile(known, np.arange(1, n_bands) / n_bands, method="inverted_cdf")
        return cls(name, tuple(np.unique(cuts[cuts < known.max()]).tolist()) or (known.min(),))

    def apply(self, column: pd.Series) -> pd.Series:
        """Return the band of every row as text, None where the number is missing."""
        bins = Binned(self.name, self.edges)
        codes = bins.codes(column)
        texts = np.array([*bins.intervals, None], dtype=object)
        return pd.Series(texts[np.where(codes < 0, len(texts) - 1, codes)], dtype=object)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"name": self.name, "edges": list(self.edges)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Banding":
        """Rebuild from plain data, checked."""
        try:
            return cls(plain.text(data["name"]), plain.edges(data["edges"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"Expected bands as written by to_dict, got {error}.") from error


def quantities(name: str, column: pd.Series) -> Read:
    """Read a column that is to be cut into bands: nothing but numbers, and missing ones."""
    read = numbers(name, column)
    if read.wrong.any():
        row = int(np.argmax(read.wrong))
        raise InputError(
            f"Expected numbers in column {name!r}, to cut it into bands, "
            f"got {column.iloc[row]!r} in row {row + 1}."
        )
    return read


def parse_bands(
    sensitive: Sequence[str], columns: Collection[str]
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Split ``age:4`` into the column and its number of bands, unless a column has that name.

    Examples
    --------
    >>> parse_bands(["sex", "age:4"], ["sex", "age"])
    (('sex', 'age'), {'age': 4})
    """
    names, bands = [], {}
    for entry in sensitive:
        name, colon, count = entry.rpartition(":")
        if entry in columns or not colon or not count.isdecimal():
            names.append(entry)
        else:
            names.append(name)
            bands[name] = int(count)
    return tuple(names), bands
