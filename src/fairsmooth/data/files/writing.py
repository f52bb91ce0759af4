"""Tables into files, piece by piece, whole or not at all."""

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from fairsmooth._atomic import replacing
from fairsmooth.data.files.format import compression_of, kind_by_name
from fairsmooth.exceptions import InputError


def write_chunks(path: str | os.PathLike[str], chunks: Iterable[pd.DataFrame]) -> int:
    """Write a table piece by piece, atomically; return the number of rows.

    The end of the name says how: ``.csv``, ``.tsv`` (tabs) or ``.txt``, also with ``.gz``,
    ``.zst`` or ``.bz2``, or ``.parquet``.
    """
    path = Path(path)
    write = output_kind(path)
    pieces = iter(chunks)
    first = next(pieces, None)
    if first is None:
        raise InputError(f"Expected rows to write to {path}, got none, not even a header.")
    with replacing(path) as temporary:
        return write(temporary, path, chain([first], pieces))


def output_kind(path: Path) -> Callable[[Path, Path, Iterator[pd.DataFrame]], int]:
    """Return what writes a file of this name, or refuse the name."""
    kind = kind_by_name(path)
    if kind == "excel":
        raise InputError(f"Expected a file to write that ends in .csv or .parquet, got {path}.")
    return _write_parquet if kind == "parquet" else _write_text


def _write_text(temporary: Path, path: Path, chunks: Iterator[pd.DataFrame]) -> int:
    rows = 0
    sep = "\t" if {".tsv", ".tab"} & {ending.lower() for ending in path.suffixes} else ","
    with pa.output_stream(os.fspath(temporary), compression=compression_of(path)) as stream:
        for position, chunk in enumerate(chunks):
            text = chunk.to_csv(sep=sep, header=position == 0, index=False)
            stream.write(text.encode())
            rows += len(chunk)
    return rows


def _write_parquet(temporary: Path, path: Path, chunks: Iterator[pd.DataFrame]) -> int:
    rows = 0
    writer: pq.ParquetWriter | None = None
    try:
        for chunk in chunks:
            table = pa.Table.from_pandas(chunk, preserve_index=False).replace_schema_metadata()
            if writer is None:
                writer = pq.ParquetWriter(temporary, table.schema)
            writer.write_table(table.cast(writer.schema))
            rows += len(chunk)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"Expected columns that Parquet can hold in {path}: {error}. Leave the column out, or "
            "write .csv."
        ) from error
    finally:
        if writer is not None:
            writer.close()
    return rows
