"""The first sheet of an Excel file, with the extra ``excel``."""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from fairsmooth.data.files.format import FileFormat
from fairsmooth.data.frames import check_names
from fairsmooth.exceptions import InputError

_LARGEST = 2**31
# What openpyxl raises of files that are none, or have no sheet of cells.
_UNREADABLE = (
    zipfile.BadZipFile, KeyError, IndexError, AttributeError, OSError, SyntaxError,
)  # fmt: skip


@dataclass(frozen=True)
class Excel:
    """The first sheet of an Excel file; its first row that is not blank holds the names."""

    path: Path

    @cached_property
    def _rows(self) -> list[tuple[int, tuple[Any, ...]]]:
        """All rows that are not blank, as blank lines of a text file are none, by their numbers."""
        numbered = enumerate(_cells(self.path), start=1)
        rows = [(number, row) for number, row in numbered if any(cell is not None for cell in row)]
        if not rows:
            raise InputError(f"Expected a table with a header, got an empty sheet: {self.path}.")
        return rows

    @property
    def names(self) -> list[str]:
        """Names of the columns: the first row up to its last name."""
        header = ["" if name is None else str(name) for name in self._rows[0][1]]
        while header and not header[-1]:
            header.pop()
        return check_names(header)

    def frame(self) -> pd.DataFrame:
        """Read all rows, cells as Excel holds them."""
        names = self.names
        for number, row in self._rows[1:]:
            if any(cell is not None for cell in row[len(names) :]):
                raise InputError(
                    f"Expected {len(names)} cells in every row of {self.path}, as in its header, "
                    f"got one more in row {number}."
                )
        columns = list(zip(*(row for _, row in self._rows[1:]), strict=True)) or [()] * len(names)
        return pd.DataFrame(
            {
                name: pd.Series(values, dtype=object)
                for name, values in zip(names, columns, strict=False)
            }
        )


def describe(path: Path) -> FileFormat:
    """Tell the columns."""
    sheet = Excel(path)
    frame = sheet.frame()
    return FileFormat("excel", tuple(sheet.names), n_rows=len(frame))


def _cells(path: Path) -> Iterator[tuple[Any, ...]]:
    try:
        import openpyxl
    except ImportError as error:
        raise InputError(
            f"Expected openpyxl to read {path}, found none. "
            "Install it with: pip install 'fairsmooth[excel]'."
        ) from error
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > _LARGEST:
            raise InputError(f"Expected at most {_LARGEST} bytes in {path}, got {size} unpacked.")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        try:
            yield from book.worksheets[0].iter_rows(values_only=True)
        finally:
            book.close()
    except _UNREADABLE as error:
        raise InputError(f"Expected an Excel file, got {path}: {error}.") from error
