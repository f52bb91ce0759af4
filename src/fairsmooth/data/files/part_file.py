"""One file of a folder of Parquet files, as a table by itself."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fairsmooth.data.files.parquet import Parquet, files_of, open_dataset


@dataclass(frozen=True)
class PartFile(Parquet):
    """A part of a table in a folder; what names of folders say (``year=2024/``) are columns."""

    folder: Path | None = None

    @cached_property
    def dataset(self) -> Any:
        """The file under its own schema."""
        return open_dataset([str(self.path)], None if self.folder is None else str(self.folder))


def parts_of(folder: Path) -> dict[str, Path]:
    """Return the files of a table by their names within its folder, in order."""
    return {str(file.relative_to(folder)): file for file in files_of(folder)}
