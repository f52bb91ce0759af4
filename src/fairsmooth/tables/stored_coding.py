"""Rows of a stored table, coded into a file, each at the place that it is given."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from fairsmooth.core.rows import CodedRows
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.files.code_file import CodeFile
from fairsmooth.data.files.stored import StoredTable

# Told how many rows are done.
Done = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class StoredCodes:
    """Coded rows in a file, and by place why a row could not be encoded."""

    file: CodeFile
    reasons: dict[int, str]

    @classmethod
    def of(
        cls,
        table: StoredTable,
        encoder: TableEncoder,
        places: NDArray[np.integer[Any]],
        *,
        done: Done = lambda rows: None,
    ) -> "StoredCodes":
        """Encode the rows that have a place, a chunk at a time; the others have a place below 0."""
        file = CodeFile.make(_nothing(encoder), int(places.max(initial=-1)) + 1)
        reasons: dict[int, str] = {}
        start = 0
        for chunk in table.chunks(encoder.columns):
            where = places[start : start + len(chunk)]
            coded, lines = encoder.encode_rows(chunk)
            used = where >= 0
            packed = coded.packed()
            file.write(where[used], packed if used.all() else packed.take(used))
            lost = np.array([line is not None for line in lines], dtype=bool)
            for row in np.flatnonzero(used & lost):
                reasons[int(where[row])] = lines[row]
            start += len(chunk)
            done(start)
        pa.default_memory_pool().release_unused()
        return cls(file, reasons)

    def rows(self, start: int, stop: int) -> CodedRows:
        """Return the rows at these places, mapped."""
        return self.file.rows(start, stop)

    def lines(self, start: int, stop: int) -> NDArray[np.object_]:
        """Return None for every row at these places, or why it could not be encoded."""
        found = np.full(stop - start, None, dtype=object)
        for place, reason in self.reasons.items():
            if start <= place < stop:
                found[place - start] = reason
        return found


def _nothing(encoder: TableEncoder) -> CodedRows:
    """Return no rows, coded by an encoder."""
    return encoder.encode(pd.DataFrame({name: [] for name in encoder.columns})).packed()
