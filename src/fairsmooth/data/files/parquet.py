"""Parquet: one file, or a folder of files that together are one table.

A table may be larger than memory: rows come in batches, columns one at a time if wanted, and
one of several readers can take its share of the row groups.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from fairsmooth.data.files.format import PARQUET_ENDINGS, FileFormat
from fairsmooth.data.files.schemas import common_schema, stored_schema, widened
from fairsmooth.data.frames import check_names
from fairsmooth.exceptions import InputError

# Rows that are read at once.
BATCH_ROWS = 2**16
_SHOWN = 3


@dataclass(frozen=True)
class RowGroup:
    """A piece of a file that Parquet reads by itself, in the order of the table."""

    file: Path
    number: int
    n_rows: int


@dataclass(frozen=True)
class Parquet:
    """A Parquet table whose rows can be read again and again.

    Attributes
    ----------
    path : Path
        A file, or a folder of files.
    share : (int, int)
        Which of how many readers this is: each has neighbouring row groups, about equally
        many rows, and together they have all in order. A single reader is (0, 1).
    """

    path: Path
    share: tuple[int, int] = (0, 1)

    def of_share(self, reader: int, of: int) -> "Parquet":
        """Return the share of one of several readers."""
        if not 0 <= reader < of:
            raise InputError(f"Expected a reader from 0 to {of - 1}, got {reader}.")
        return replace(self, share=(reader, of))

    @cached_property
    def dataset(self) -> Any:
        """All files of the table under one schema, in the order of their names."""
        files = [str(file) for file in files_of(self.path)]
        # A file has its own columns, whatever the folders above it are called.
        return open_dataset(files, str(self.path if self.path.is_dir() else self.path.parent))

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns."""
        return check_names(self.dataset.schema.names)

    @cached_property
    def absent(self) -> dict[str, int]:
        """How many files lack a column that others have, by its name; their rows lack its value."""
        parts = [set(part.physical_schema.names) for part in self.dataset.get_fragments()]
        known = [name for name in self.dataset.schema.names if any(name in part for part in parts)]
        lacking = {name: sum(name not in part for part in parts) for name in known}
        return {name: count for name, count in lacking.items() if count}

    @cached_property
    def row_groups(self) -> list[RowGroup]:
        """All pieces of the table, whoever reads them."""
        return [
            RowGroup(file, number, known.row_group(number).num_rows)
            for file in files_of(self.path)
            for known in [_metadata(file)]
            for number in range(known.num_row_groups)
        ]

    @cached_property
    def own_groups(self) -> list[RowGroup]:
        """The pieces of this reader."""
        reader, of = self.share
        total, before, own = sum(group.n_rows for group in self.row_groups), 0, []
        for group in self.row_groups:
            # By the middle of the piece, so that none is read twice.
            if reader == min(of - 1, (2 * before + group.n_rows) * of // max(2 * total, 1)):
                own.append(group)
            before += group.n_rows
        return own

    @property
    def n_rows(self) -> int:
        """Number of rows of this reader, known without reading them."""
        return sum(group.n_rows for group in self.own_groups)

    @property
    def rows_before(self) -> int:
        """Number of rows of the table before the first one of this reader."""
        if not self.own_groups:
            return 0
        return sum(g.n_rows for g in self.row_groups[: self.row_groups.index(self.own_groups[0])])

    def batches(
        self, columns: Sequence[str] | None = None, *, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows of this reader, all columns or some, a few at a time."""
        known = dict(zip(self.names, self.dataset.schema.names, strict=True))
        wanted = self.names if columns is None else list(columns)
        stored = [known[name] for name in wanted]
        common = self.dataset.schema
        for fragment in self._fragments():
            try:
                schema = stored_schema(common, fragment.physical_schema)
                scanner = ds.Scanner.from_fragment(
                    fragment, schema=schema, columns=stored, batch_size=rows,
                    batch_readahead=1, fragment_readahead=1, memory_pool=_memory(),
                )  # fmt: skip
                for batch in scanner.to_batches():
                    yield widened(batch, common).rename_columns(wanted)
            except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
                raise _damaged(Path(fragment.path), error) from error

    def _fragments(self) -> Iterator[Any]:
        """Yield what to read: files, or some of their row groups."""
        wanted: dict[str, list[int]] = {}
        for group in self.own_groups:
            wanted.setdefault(str(group.file), []).append(group.number)
        for fragment in self.dataset.get_fragments():
            numbers = wanted.get(fragment.path)
            if numbers:
                yield fragment.subset(row_group_ids=numbers)


@cache
def _memory() -> pa.MemoryPool:
    """Return where batches are kept: where pages stay from one to the next, a tenth faster."""
    try:
        return pa.jemalloc_memory_pool()
    except NotImplementedError:  # not part of every build
        return pa.default_memory_pool()


def files_of(path: Path) -> list[Path]:
    """Return the files of a table, in the order of their names."""
    if path.is_file():
        return [path]
    found = sorted(file for file in path.rglob("*") if _is_part(file))
    if not found:
        others = others_in(path)
        raise InputError(
            f"Expected Parquet files in the folder {path}, found none"
            + (f" but {', '.join(others[:_SHOWN])}." if others else ".")
        )
    return found


def others_in(path: Path) -> list[str]:
    """Return the names of files in a folder that are no part of its table; hidden ones are not."""
    if not path.is_dir():
        return []
    return sorted(
        str(file.relative_to(path))
        for file in path.rglob("*")
        if file.is_file() and not _is_part(file) and not file.name.startswith((".", "_"))
    )


def _is_part(file: Path) -> bool:
    return file.suffix.lower() in PARQUET_ENDINGS and not file.name.startswith((".", "_"))


def open_dataset(files: list[str], base: str) -> Any:
    """Open files under one schema; what folders below ``base`` are called are columns."""
    for file in files:
        _require_told_once(Path(file), Path(base), _metadata(file).schema.to_arrow_schema().names)
    try:
        found = _dataset(files, base, None)
        parts = {part.path: part.physical_schema for part in found.get_fragments()}
        return _dataset(files, base, common_schema(found.schema, parts))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
        raise _damaged(Path(base if len(files) > 1 else files[0]), error) from error


def _require_told_once(file: Path, base: Path, names: list[str]) -> None:
    """Refuse a column that both a file and a folder's name tell: Arrow would believe the name."""
    folders = [part for part in file.relative_to(base).parts[:-1] if "=" in part]
    told = {folder.partition("=")[0]: folder for folder in folders}
    for name in names:
        if name in told:
            raise InputError(
                f"Expected column {name!r} in the files or in the names of folders, got it in both "
                f"({file.relative_to(base)}). Rename the folder {told[name]}, or write the files "
                "without the column."
            )


def _dataset(files: list[str], base: str, schema: Any) -> Any:
    return ds.dataset(
        files,
        schema=schema,
        format="parquet",
        partitioning="hive",
        partition_base_dir=base,
    )


def describe(path: Path) -> FileFormat:
    """Tell columns and number of rows, which Parquet knows without reading."""
    source = Parquet(path)
    return FileFormat("parquet", tuple(source.dataset.schema.names), n_rows=source.n_rows)


def _metadata(file: str | Path) -> Any:
    try:
        return pq.read_metadata(file)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(Path(file), error) from error


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"Expected a Parquet table, got {path}: {str(error).splitlines()[0]}")
