"""A table from a file: its columns' kinds are decided over all rows, then rows are converted."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa

from fairsmooth.data.conversion import ColumnType, convert
from fairsmooth.data.files.delimited import Delimited
from fairsmooth.data.files.excel import Excel
from fairsmooth.data.files.format import describe_format, file_kind
from fairsmooth.data.files.parquet import Parquet
from fairsmooth.data.frames import as_frame, mark_normal
from fairsmooth.data.kinds import Profile
from fairsmooth.data.known_texts import single_values

CHUNK_ROWS = 50_000


def read_table(
    path: str | os.PathLike[str],
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    text: Collection[str] = (),
) -> pd.DataFrame:
    """Read a whole table, in the normal form of :func:`fairsmooth.data.frames.as_frame`.

    Parameters
    ----------
    path : path
        A ``.csv``, ``.tsv`` or ``.txt`` file, also compressed (``.gz``, ``.zst``, ``.bz2``);
        a ``.parquet`` file or a folder of them; an ``.xlsx`` file (extra ``excel``).
    sep : str, optional
        Separator of a text file. Sniffed over a sample if left out: ``,`` ``;`` tab or ``|``.
    decimal : {".", ","}, optional
        Decimal mark of a text file; sniffed if left out.
    encoding : str, optional
        Encoding of a text file; UTF-8, or what its byte order mark says, if left out.
    text : collection of str
        Columns that are known to hold categories, whatever their values look like here.

    Raises
    ------
    InputError
        If there is no such file, or it holds no table: an empty file, a line with more or
        fewer fields than the header (its number is named), a column name that is empty or
        occurs twice, NUL bytes, another encoding, a number beyond float64.
    """
    chunks = list(read_chunks(path, sep=sep, decimal=decimal, encoding=encoding, text=text))
    return mark_normal(chunks[0] if len(chunks) == 1 else pd.concat(chunks, ignore_index=True))


def read_chunks(
    path: str | os.PathLike[str],
    *,
    chunk_rows: int = CHUNK_ROWS,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    text: Collection[str] = (),
) -> Iterator[pd.DataFrame]:
    """Read a table piece by piece, so that memory does not grow with its length.

    The file is read twice: once to decide what every column is, over all rows, and once
    to convert it. So all chunks have the same types, and a letter in the last row makes
    a column text from the first on. A table without rows gives one chunk without rows.
    """
    path = Path(path)
    if file_kind(path) == "excel":
        yield from _slices(as_frame(Excel(path).frame(), text=text), chunk_rows)
        return
    source, mark = _source(path, sep, decimal, encoding)
    types = _survey(source, mark, text)
    for table in _rechunked(source, chunk_rows):
        yield _converted(table, types, mark)


def count_rows(
    path: str | os.PathLike[str],
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> int:
    """Count the rows of a table: at once for Parquet, by reading the file for text."""
    known = describe_format(path, sep=sep, decimal=decimal, encoding=encoding)
    if known.n_rows is not None:
        return known.n_rows
    return sum(batch.num_rows for batch in Delimited(Path(path), known).batches())


def _source(
    path: Path, sep: str | None, decimal: str | None, encoding: str | None
) -> tuple[Delimited | Parquet, str]:
    if file_kind(path) == "parquet":
        return Parquet(path), "."
    found = describe_format(path, sep=sep, decimal=decimal, encoding=encoding)
    return Delimited(path, found), found.decimal


def _survey(source: Delimited | Parquet, mark: str, text: Collection[str]) -> dict[str, ColumnType]:
    profiles = [Profile.of(name, decimal=mark, text=name in text) for name in source.names]
    for batch in source.batches():
        for profile, column in zip(profiles, batch.columns, strict=True):
            profile.update(column)
    return {profile.name: profile.decide() for profile in profiles}


def _rechunked(source: Delimited | Parquet, chunk_rows: int) -> Iterator[pa.Table]:
    """Cut the rows into equal pieces; a table without rows is one empty piece."""
    waiting: list[pa.RecordBatch] = []
    n_waiting, n_given = 0, 0
    for batch in source.batches():
        waiting.append(batch)
        n_waiting += batch.num_rows
        if n_waiting >= chunk_rows:
            table = pa.Table.from_batches(waiting)
            whole = n_waiting - n_waiting % chunk_rows
            for start in range(0, whole, chunk_rows):
                yield table.slice(start, chunk_rows)
            waiting, n_waiting = table.slice(whole).to_batches(), n_waiting - whole
            n_given += whole
    if n_waiting or not n_given:
        empty = pa.schema([(name, pa.string()) for name in source.names])
        yield pa.Table.from_batches(waiting, schema=None if waiting else empty)


def _converted(table: pa.Table, types: dict[str, ColumnType], mark: str) -> pd.DataFrame:
    columns = {}
    for name, kind in types.items():
        with single_values(name, table[name].type):
            columns[name] = convert(table[name], kind, decimal=mark)
    return mark_normal(pd.DataFrame(columns))


def _slices(frame: pd.DataFrame, chunk_rows: int) -> Iterator[pd.DataFrame]:
    for start in range(0, max(len(frame), 1), chunk_rows):
        yield frame.iloc[start : start + chunk_rows].reset_index(drop=True)
