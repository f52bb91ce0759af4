"""Coded rows in an unnamed temporary file, mapped into memory: the system keeps what it can.

The file has no name, so that nothing is left of it however the process ends. Its space is taken
when it is made: a disk that is full is an error then, and not a crash in the middle of the work.
"""

import mmap
import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth.core.rows import CodedRows
from fairsmooth.exceptions import InputError


@dataclass(frozen=True, eq=False)
class CodeFile:
    """Room for the rows of a table, in any order.

    Attributes
    ----------
    like : CodedRows
        Rows of the same columns.
    codes, numbers : ndarray
        Mapped from a file.
    """

    like: CodedRows
    codes: NDArray[Any]
    numbers: NDArray[Any]

    @classmethod
    def make(cls, like: CodedRows, n_rows: int) -> "CodeFile":
        """Make room for that many rows of the columns that ``like`` has."""
        shapes = [(array, (n_rows, array.shape[1])) for array in (like.codes, like.numbers)]
        require_space(sum(int(np.prod(shape)) * array.itemsize for array, shape in shapes))
        codes, numbers = (_mapped(array.dtype, shape) for array, shape in shapes)
        return cls(like, codes, numbers)

    def write(self, places: NDArray[np.integer[Any]], rows: CodedRows) -> None:
        """Put rows at their places."""
        self.codes[places] = rows.codes
        self.numbers[places] = rows.numbers

    def release(self) -> None:
        """Let the system count what is mapped as its own: it stays in the file, and at hand."""
        for array in (self.codes, self.numbers):
            mapped = getattr(array.base, "_mmap", None)
            if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)

    def rows(self, start: int, stop: int) -> CodedRows:
        """Return rows as they are in the file, without a copy."""
        return replace(self.like, codes=self.codes[start:stop], numbers=self.numbers[start:stop])


def require_space(n_bytes: int) -> None:
    """Refuse to begin where the folder for temporary files has too little space."""
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if free < n_bytes:
        raise InputError(
            f"Expected {_size(n_bytes)} of space in {folder} for the coded rows, got "
            f"{_size(free)}. Make room, or set TMPDIR to another folder."
        )


def _size(n_bytes: int) -> str:
    small = n_bytes < 2**30
    return f"{n_bytes / 2**20:,.2f} MiB" if small else f"{n_bytes / 2**30:,.2f} GiB"


def _mapped(kind: Any, shape: tuple[int, int]) -> NDArray[Any]:
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    if size == 0:
        return np.empty(shape, dtype=kind)
    file = tempfile.TemporaryFile(prefix="fairsmooth-")  # noqa: SIM115 - as long as its map
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    found = np.memmap(file, dtype=kind, mode="w+", shape=shape)
    file.close()
    return found.view(np.ndarray)
