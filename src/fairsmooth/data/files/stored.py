"""A table that stays in its Parquet files: columns are read one at a time, rows in chunks."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa

from fairsmooth import _validate
from fairsmooth.data.conversion import ColumnType, convert
from fairsmooth.data.files.hidden import require_none_hidden
from fairsmooth.data.files.parquet import BATCH_ROWS, Parquet
from fairsmooth.data.files.pieces import Piece, joined
from fairsmooth.data.frames import ColumnDigest, mark_normal
from fairsmooth.data.kinds import Profile


class Source(Protocol):
    """Rows in files: a whole table, or a part of one."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def batches(
        self, columns: Sequence[str] | None = None, *, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Read all columns or some, a few rows at a time."""


@dataclass(eq=False)
class StoredTable:
    """A Parquet file or folder as a table, of which no more than a column is in memory.

    Every column is in the normal form of :func:`fairsmooth.data.frames.as_frame`, decided over
    all rows, but for texts: they are categories, in the order in which they occur.

    Attributes
    ----------
    source : Parquet, or some rows of it
    text : collection of str
        Columns that are known to hold categories, whatever their values look like.
    """

    source: Source
    text: Collection[str] = ()
    _types: dict[str, ColumnType] = field(default_factory=dict, repr=False)

    @classmethod
    def at(cls, path: Path, *, text: Collection[str] = ()) -> "StoredTable":
        """Open the table in a file or folder."""
        return cls(Parquet(require_none_hidden(path)), text)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self.source.names

    def __len__(self) -> int:
        return self.source.n_rows

    def __getitem__(self, name: Any) -> Any:
        """Read one column, or a frame of several."""
        if not isinstance(name, str):
            return self.frame(list(name))
        _validate.known_column(name, self.columns, where="the table")
        profile = Profile.of(name, text=name in self.text)
        pieces = [Piece.of(batch.column(0), profile) for batch in self.source.batches([name])]
        kind = self._types[name] = profile.decide()
        if not pieces:
            return convert(pa.nulls(0, pa.string()), kind).rename(name)
        return joined(pieces, name, kind)

    def frame(self, names: Sequence[str]) -> pd.DataFrame:
        """Read some columns."""
        index = pd.RangeIndex(len(self))
        return mark_normal(pd.DataFrame({name: self[name] for name in names}, index=index))

    def kind(self, name: str) -> ColumnType:
        """Tell what a column is, over all its rows."""
        if name not in self._types:
            _validate.known_column(name, self.columns, where="the table")
            profile = Profile.of(name, text=name in self.text)
            for batch in self.source.batches([name]):
                Piece.of(batch.column(0), profile)
            self._types[name] = profile.decide()
        return self._types[name]

    def chunks(
        self, names: Sequence[str] | None = None, *, rows: int = BATCH_ROWS
    ) -> Iterator[pd.DataFrame]:
        """Read some columns of all rows, a few rows at a time, in order."""
        wanted = self.columns if names is None else list(names)
        kinds = {name: self.kind(name) for name in wanted}
        for batch in self.source.batches(wanted, rows=rows):
            columns = {
                name: Piece.of(batch.column(place)).series(name, kinds[name])
                for place, name in enumerate(wanted)
            }
            if batch.num_rows:
                yield mark_normal(pd.DataFrame(columns))

    def digest(self) -> str:
        """Return the SHA-256 of the table, as :func:`fairsmooth.data.frames.table_digest` does."""
        sha = ColumnDigest(len(self))
        for name in self.columns:
            sha.update(name, self[name])
        return sha.hexdigest()
