"""One file of a folder of Parquet files, under the schema of the whole table."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from fairsmooth.data.files.hidden import require_none_hidden
from fairsmooth.data.files.parquet import Parquet, files_of


@dataclass(frozen=True)
class PartFile(Parquet):
    """A part of a table in a folder; what names of folders say (``year=2024/``) are columns.

    ``schema`` is that of all parts. A column that the part lacks is missing in its rows, and
    one of another type is converted, as where the table is read as a whole.
    """

    folder: Path = Path()
    schema: Any = None

    @cached_property
    def dataset(self) -> Any:
        """The file under the schema of the table."""
        # By name, not by what a single part would let one guess: "01" may be text elsewhere.
        named = {part.partition("=")[0] for part in self.path.relative_to(self.folder).parts[:-1]}
        keys = pa.schema([column for column in self.schema if column.name in named])
        return ds.dataset(
            [str(self.path)],
            schema=self.schema,
            format="parquet",
            partitioning=ds.partitioning(keys, flavor="hive"),
            partition_base_dir=str(self.folder),
        )


def parts_of(folder: Path) -> dict[str, Path]:
    """Return the files of a table by their names within its folder, in order."""
    files = files_of(require_none_hidden(folder))
    return {str(file.relative_to(folder)): file for file in files}
