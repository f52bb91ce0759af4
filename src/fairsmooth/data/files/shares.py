"""A rank's share of a table: neighbouring rows, with the kinds of columns that all rows decide."""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
import pyarrow as pa

from fairsmooth.core.ranks import Ranks
from fairsmooth.data.conversion import convert
from fairsmooth.data.files.delimited import Delimited
from fairsmooth.data.files.format import describe_format, file_kind
from fairsmooth.data.files.parquet import Parquet, RowGroup
from fairsmooth.data.files.reading import count_rows
from fairsmooth.data.frames import check_names, mark_normal
from fairsmooth.data.kinds import Profile
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
) -> pd.DataFrame:
    """Read the rows of this rank, in the normal form of a table with the rows of all ranks.

    Ranks have neighbouring rows, about equally many, and together all of them in order. Of
    Parquet a rank reads the row groups in which its rows are; a text file every rank reads from
    its start. With ``whole`` a rank has a file of its own, and all of its rows. The other options
    are those of :func:`fairsmooth.data.files.read_table`.

    Raises
    ------
    InputError
        On every rank, if one cannot read its file, or if their columns differ.
    """
    source, mark = ranks.together(lambda: _source(Path(path), ranks, whole, sep, decimal, encoding))
    _require_same(source.names, ranks)
    table = ranks.together(lambda: _read(source))
    return agreed_frame(table, ranks, text=text, decimal=mark)


def agreed_frame(
    table: pa.Table, ranks: Ranks, *, text: Collection[str] = (), decimal: str = "."
) -> pd.DataFrame:
    """Return the rows of an Arrow table, with kinds of columns that the rows of all ranks allow."""
    profiles = [Profile.of(name, decimal=decimal, text=name in text) for name in table.column_names]
    for profile in profiles:
        profile.update(table[profile.name])
    for told in ranks.gather([profile.told() for profile in profiles]):
        for profile, heard in zip(profiles, told, strict=True):
            profile.hear(heard)
    types = {profile.name: profile.decide() for profile in profiles}
    return mark_normal(
        pd.DataFrame(
            {name: convert(table[name], kind, decimal=decimal) for name, kind in types.items()}
        )
    )


def arrow_share(frame: pd.DataFrame, ranks: Ranks) -> pa.Table:
    """Return own rows, given as a frame, as an Arrow table with the columns that all ranks have."""
    table = ranks.together(lambda: pa.Table.from_pandas(frame, preserve_index=False))
    table = table.rename_columns(ranks.together(lambda: check_names(table.column_names)))
    _require_same(table.column_names, ranks)
    return table


@dataclass(frozen=True)
class _Range:
    """Rows ``start`` to ``stop`` of a table, whose source begins with row ``first``."""

    source: Delimited | Parquet
    first: int
    start: int
    stop: int

    @property
    def names(self) -> list[str]:
        return self.source.names

    def batches(self) -> Iterator[pa.RecordBatch]:
        at = self.first
        for batch in self.source.batches():
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
) -> tuple[_Range, str]:
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
        return _Range(groups, groups.rows_before, start, stop), "."
    return _Range(Delimited(path, known), 0, start, stop), known.decimal


def _read(source: _Range) -> pa.Table:
    batches = list(source.batches())
    empty = pa.schema([(name, pa.null()) for name in source.names])
    return pa.Table.from_batches(batches, schema=None if batches else empty)


def _require_same(names: list[str], ranks: Ranks) -> None:
    for rank, others in enumerate(ranks.gather(names)):
        if others != names:
            different = sorted({*names} ^ {*others}) or "another order"
            raise InputError(
                f"Expected the same columns on every rank, got others on rank {rank}: {different}."
            )
