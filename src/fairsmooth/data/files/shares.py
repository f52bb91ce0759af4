"""A rank's share of a table: neighbouring rows, with the kinds of columns that all rows decide."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
import pyarrow as pa

from fairsmooth.core.ranks import ALONE, Ranks
from fairsmooth.data.conversion import ColumnType, convert
from fairsmooth.data.files.delimited import Delimited
from fairsmooth.data.files.format import describe_format, file_kind
from fairsmooth.data.files.parquet import BATCH_ROWS, Parquet, RowGroup
from fairsmooth.data.files.pieces import Piece, joined
from fairsmooth.data.files.reading import count_rows
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.frames import check_names, mark_normal
from fairsmooth.data.kinds import Profile
from fairsmooth.data.known_texts import single_values
from fairsmooth.exceptions import InputError


def read_share(
    path: str | os.PathLike[str],
    ranks: Ranks,
    *,
    whole: bool = False,
    text: Collection[str] = (),
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> "SharedTable | pd.DataFrame":
    """Return the rows of this rank, in the normal form of a table with the rows of all ranks.

    Ranks have neighbouring rows, about equally many, and together all of them in order. Parquet
    stays in its files, of which a rank reads the row groups that its rows are in, a column at a
    time; a text file every rank reads from its start, and keeps its rows in memory. With
    ``whole`` a rank has a file of its own, and all of its rows. The other options are those of
    :func:`fairsmooth.data.files.read_table`.

    Raises
    ------
    InputError
        On every rank, if one cannot read its file, or if their columns differ.
    """
    source, mark = ranks.together(lambda: _source(Path(path), ranks, whole, sep, decimal, encoding))
    _require_same(source.names, ranks)
    if isinstance(source.source, Parquet):
        return SharedTable(source, text, ranks=ranks)
    table = ranks.together(lambda: _read(source))
    return agreed_frame(table, ranks, text=text, decimal=mark)


def agreed_frame(
    table: pa.Table, ranks: Ranks, *, text: Collection[str] = (), decimal: str = "."
) -> pd.DataFrame:
    """Return the rows of an Arrow table, with kinds of columns that the rows of all ranks allow."""
    profiles = [Profile.of(name, decimal=decimal, text=name in text) for name in table.column_names]
    for profile in profiles:
        profile.update(table[profile.name])
    _agree(profiles, ranks)
    types = {profile.name: profile.decide() for profile in profiles}
    columns = {}
    for name, kind in types.items():
        with single_values(name, table[name].type):
            columns[name] = convert(table[name], kind, decimal=decimal)
    return mark_normal(pd.DataFrame(columns))


def share_of_frame(frame: pd.DataFrame, ranks: Ranks) -> pd.DataFrame:
    """Return own rows, given as a frame, in the normal form of a table of all ranks' rows."""
    table = ranks.together(lambda: _of_frame(frame))
    _require_same(table.column_names, ranks)
    return agreed_frame(table, ranks)


@dataclass(eq=False)
class SharedTable(StoredTable):
    """A rank's rows of Parquet files; all ranks read the same columns, in the same order."""

    ranks: Ranks = ALONE

    def __getitem__(self, name: str) -> pd.Series:
        """Read own rows of one column, in the kind that the rows of all ranks allow."""
        pieces, kind = self._surveyed(name)
        if not pieces:
            return convert(pa.nulls(0, pa.string()), kind).rename(name)
        return joined(pieces, name, kind)

    def kind(self, name: str) -> ColumnType:
        """Tell what a column is, over the rows of all ranks."""
        return self._types[name] if name in self._types else self._surveyed(name)[1]

    def _surveyed(self, name: str) -> tuple[list[Piece], ColumnType]:
        profile = Profile.of(name, text=name in self.text)
        read = self.source.batches
        pieces = self.ranks.together(
            lambda: [Piece.of(batch.column(0), profile) for batch in read([name])]
        )
        _agree([profile], self.ranks)
        kind = self._types[name] = profile.decide()
        return pieces, kind


@dataclass(frozen=True)
class Range:
    """Rows ``start`` to ``stop`` of a table, whose source begins with row ``first``."""

    source: Delimited | Parquet
    first: int
    start: int
    stop: int

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.source.names

    @property
    def n_rows(self) -> int:
        """Number of these rows."""
        return self.stop - self.start

    def batches(
        self, columns: Sequence[str] | None = None, *, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Read these rows; of Parquet some columns if wanted, a few rows at a time."""
        at, source = self.first, self.source
        read = (
            source.batches(columns, rows=rows)
            if isinstance(source, Parquet)
            else (source.batches())
        )
        for batch in read:
            low, high = max(self.start - at, 0), min(self.stop - at, batch.num_rows)
            if low < high:
                yield batch.slice(low, high - low)
            at += batch.num_rows
            if at >= self.stop:
                return


@dataclass(frozen=True)
class _Overlapping(Parquet):
    """The row groups in which some rows of a table are."""

    start: int = 0
    stop: int = 0

    @cached_property
    def own_groups(self) -> list[RowGroup]:
        before, own = 0, []
        for group in self.row_groups:
            if before < self.stop and before + group.n_rows > self.start:
                own.append(group)
            before += group.n_rows
        return own


def _source(
    path: Path,
    ranks: Ranks,
    whole: bool,
    sep: str | None,
    decimal: str | None,
    encoding: str | None,
) -> tuple[Range, str]:
    if file_kind(path) == "excel":
        raise InputError(f"Expected a .csv or .parquet table with several ranks, got {path}.")
    how = {"sep": sep, "decimal": decimal, "encoding": encoding}
    known = describe_format(path, **how)
    n_rows = count_rows(path, **how)
    start, stop = (n_rows * part // ranks.size for part in (ranks.rank, ranks.rank + 1))
    if whole:
        start, stop = 0, n_rows
    if known.kind == "parquet":
        groups = _Overlapping(path, start=start, stop=stop)
        return Range(groups, groups.rows_before, start, stop), "."
    return Range(Delimited(path, known), 0, start, stop), known.decimal


def _of_frame(frame: pd.DataFrame) -> pa.Table:
    names = check_names([str(name) for name in frame.columns])
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"Expected columns of one kind each, got: {error}.") from error
    return table.rename_columns(names)


def _read(source: Range) -> pa.Table:
    batches = list(source.batches())
    empty = pa.schema([(name, pa.null()) for name in source.names])
    return pa.Table.from_batches(batches, schema=None if batches else empty)


def _agree(profiles: Sequence[Profile], ranks: Ranks) -> None:
    """Let columns be what the rows of all ranks allow."""
    for profile in profiles:
        # Whole numbers on one rank are numbers where another, with a gap, stores fractions.
        if profile.kinds == {"integer"} and not profile.inexact:
            profile.kinds = {"integer", "float"}
    for told in ranks.gather([profile.told() for profile in profiles]):
        for profile, heard in zip(profiles, told, strict=True):
            profile.hear(heard)


def _require_same(names: list[str], ranks: Ranks) -> None:
    for rank, others in enumerate(ranks.gather(names)):
        if others != names:
            different = sorted({*names} ^ {*others}) or "another order"
            raise InputError(
                f"Expected the same columns on every rank, got others on rank {rank}: {different}."
            )
