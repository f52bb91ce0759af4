"""Rows as a SciPy matrix in compressed rows (CSR)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from fairsmooth._types import Floats
from fairsmooth.core.rows.rows import Block, Choice, Index, Rows


@dataclass(frozen=True, eq=False)
class SparseRows(Rows):
    """A CSR matrix ``(n, d)``, float64 and finite; entries that it does not hold are 0."""

    X: Any
    chunk_rows: int = 2**17

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""
        return self.X.shape[0], self.X.shape[1]

    def take(self, rows: Choice) -> Self:
        """Return some of the rows."""
        return type(self)(self.X[rows], self.chunk_rows)

    def toarray(self) -> Floats:
        """Return the matrix with its zeros."""
        return np.asarray(self.X.toarray(), dtype=np.float64, order="C")

    def squared_norms(self) -> Floats:
        """Return the squared length of every row."""
        return np.asarray(self.squared().X.sum(axis=1)).ravel()

    def squared(self) -> Self:
        """Return the squares."""
        with np.errstate(over="ignore"):  # infinite lengths are for the caller to see
            squares = self.X.data**2
        X = csr_array((squares, self.X.indices, self.X.indptr), shape=self.X.shape)
        return type(self)(X, self.chunk_rows)

    def scales(self) -> tuple[Floats, Floats]:
        """Return the largest entry and the root mean square of those not 0, by column."""
        width, used = self.shape[1], self.X.data != 0.0
        columns, entries = self.X.indices[used], self.X.data[used]
        largest = np.zeros(width)
        np.maximum.at(largest, columns, np.abs(entries))
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            squares = np.bincount(columns, weights=entries**2, minlength=width)
            return largest, np.sqrt(squares / np.bincount(columns, minlength=width))

    def table(self, parameters: Floats) -> Floats:
        """Return the parameters."""
        return np.ascontiguousarray(parameters)

    def gradient(self, sums: Floats) -> Floats:
        """Return the sums."""
        return sums

    def blocks(self, groups: Index) -> Iterator[tuple[int, int, Block]]:
        """Yield pieces, every row with the columns of its group among ``K (d + 1)``."""
        X, width = self.X, self.shape[1] + 1
        for start, stop in self.bounds():
            ends, of = X.indptr[start : stop + 1], groups[start:stop]
            columns = X.indices[ends[0] : ends[-1]]
            if of[-1] > 0:
                columns = columns + np.repeat(of.astype(np.int64) * width, np.diff(ends))
            entries = X.data[ends[0] : ends[-1]]
            yield start, stop, SparseBlock(columns, entries, ends - ends[0], of, width)


@dataclass(frozen=True, eq=False)
class SparseBlock(Block):
    """A piece of a CSR matrix beside the intercept."""

    columns: Index
    entries: Floats
    ends: Index
    groups: Index
    width: int

    def _matrix(self, n_groups: int) -> Any:
        shape = len(self.groups), n_groups * self.width
        return csr_array((self.entries, self.columns, self.ends), shape=shape)

    def logits(self, table: Floats) -> Floats:
        """Return weights times entries, plus the intercept."""
        product = self._matrix(len(table)) @ table.ravel()
        return np.asarray(product + table[self.groups, -1])

    def add_sums(self, values: Floats, sums: Floats) -> None:
        """Add every row times its value, and the values."""
        sums += (self._matrix(len(sums)).T @ values).reshape(sums.shape)
        sums[:, -1] += np.bincount(self.groups, weights=values, minlength=len(sums))
