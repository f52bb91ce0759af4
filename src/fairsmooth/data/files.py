"""Tables in and out of files: CSV and Parquet, whole or in chunks."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from fairsmooth._atomic import replacing
from fairsmooth.exceptions import InputError

_PARQUET = (".parquet", ".pq")
_CSV = (".csv",)
CHUNK_ROWS = 50_000


def read_table(path: Path) -> pd.DataFrame:
    """Read a whole table."""
    return pd.concat(read_chunks(path), ignore_index=True)


def read_chunks(path: Path, *, chunk_rows: int = CHUNK_ROWS) -> Iterator[pd.DataFrame]:
    """Read a table piece by piece, so that memory does not grow with its length."""
    if not path.is_file():
        raise InputError(f"Expected a table, found no file at {path}.")
    kind = _kind(path)
    n_chunks = 0
    try:
        for chunk in _parquet(path, chunk_rows) if kind == "parquet" else _csv(path, chunk_rows):
            n_chunks += 1
            yield chunk
    except (pa.ArrowInvalid, pd.errors.ParserError, UnicodeDecodeError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"Expected a {kind} table, got {path}: {reason}") from error
    except pd.errors.EmptyDataError:
        n_chunks = 0
    if n_chunks == 0:
        raise InputError(f"Expected a table with rows, got an empty one: {path}.")


def write_chunks(path: Path, chunks: Iterator[pd.DataFrame]) -> int:
    """Write a table piece by piece, atomically; return the number of rows."""
    kind = _kind(path)
    with replacing(path) as temporary:
        if kind == "parquet":
            return _write_parquet(temporary, chunks)
        return _write_csv(temporary, chunks)


def _kind(path: Path) -> str:
    if path.suffix.lower() in _PARQUET:
        return "parquet"
    if path.suffix.lower() in _CSV:
        return "csv"
    raise InputError(f"Expected a file that ends in .csv or .parquet, got {path}.")


def _csv(path: Path, chunk_rows: int) -> Iterator[pd.DataFrame]:
    # Only an empty field is missing: "NA" or "None" may well be a category.
    with pd.read_csv(
        path, chunksize=chunk_rows, keep_default_na=False, na_values=[""], skipinitialspace=True
    ) as reader:
        yield from reader


def _parquet(path: Path, chunk_rows: int) -> Iterator[pd.DataFrame]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=chunk_rows):
            yield batch.to_pandas()


def _write_csv(path: Path, chunks: Iterator[pd.DataFrame]) -> int:
    rows = 0
    for position, chunk in enumerate(chunks):
        chunk.to_csv(path, mode="a", header=position == 0, index=False)
        rows += len(chunk)
    return rows


def _write_parquet(path: Path, chunks: Iterator[pd.DataFrame]) -> int:
    rows = 0
    writer: pq.ParquetWriter | None = None
    try:
        for chunk in chunks:
            table = pa.Table.from_pandas(chunk, preserve_index=False)
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema)
            writer.write_table(table.cast(writer.schema))
            rows += len(chunk)
    finally:
        if writer is not None:
            writer.close()
    return rows
