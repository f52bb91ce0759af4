"""Parquet: one file, or a folder of files that together are one table."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from fairsmooth.data.files.format import PARQUET_ENDINGS, FileFormat
from fairsmooth.data.frames import check_names
from fairsmooth.exceptions import InputError


@dataclass(frozen=True)
class Parquet:
    """A Parquet table whose rows can be read again and again."""

    path: Path

    @cached_property
    def dataset(self) -> Any:
        """All files of the table under one schema, in the order of their names."""
        files = [str(file) for file in _files(self.path)]
        base = str(self.path) if self.path.is_dir() else None
        try:
            found = _dataset(files, base, None)
            schemas = [found.schema, *(part.physical_schema for part in found.get_fragments())]
            return _dataset(files, base, pa.unify_schemas(schemas, promote_options="permissive"))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
            raise _damaged(self.path, error) from error

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return check_names(self.dataset.schema.names)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Read all rows."""
        try:
            for batch in self.dataset.to_batches():
                yield batch.rename_columns(self.names)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
            raise _damaged(self.path, error) from error


def _dataset(files: list[str], base: str | None, schema: Any) -> Any:
    return ds.dataset(
        files,
        schema=schema,
        format="parquet",
        partitioning="hive",
        partition_base_dir=base,
    )


def describe(path: Path) -> FileFormat:
    """Tell columns and number of rows, which Parquet knows without reading."""
    names = tuple(Parquet(path).dataset.schema.names)  # refuses a damaged file
    rows = sum(pq.read_metadata(file).num_rows for file in _files(path))
    return FileFormat("parquet", names, n_rows=rows)


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in PARQUET_ENDINGS and not file.name.startswith((".", "_"))
    )
    if not found:
        raise InputError(f"Expected Parquet files in the folder {path}, found none.")
    return found


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"Expected a Parquet table, got {path}: {str(error).splitlines()[0]}")
