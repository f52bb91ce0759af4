"""Rows as a float64 matrix."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.core.rows.rows import DENSE_ENTRIES, Block, Choice, Index, Rows, segments


@dataclass(frozen=True, eq=False)
class DenseRows(Rows):
    """A matrix ``(n, d)``; the table is the parameters themselves."""

    X: Floats

    @property
    def chunk_rows(self) -> int:  # type: ignore[override]
        """As many as stay in the cache between both passes over them."""
        return max(256, DENSE_ENTRIES // max(1, self.X.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""
        return self.X.shape[0], self.X.shape[1]

    def take(self, rows: Choice) -> Self:
        """Return some of the rows."""
        return type(self)(self.X[rows])

    def toarray(self) -> Floats:
        """Return the matrix."""
        return self.X

    def squared_norms(self) -> Floats:
        """Return the squared length of every row."""
        return np.einsum("ij,ij->i", self.X, self.X)

    def squared(self) -> Self:
        """Return the squares."""
        return type(self)(np.square(self.X))

    def scales(self) -> tuple[Floats, Floats]:
        """Return the largest entry and the root mean square of those not 0, by column."""
        return column_scales(self.X)

    def table(self, parameters: Floats) -> Floats:
        """Return the parameters."""
        return np.ascontiguousarray(parameters)

    def gradient(self, sums: Floats) -> Floats:
        """Return the sums."""
        return sums

    def blocks(self, groups: Index) -> Iterator[tuple[int, int, Block]]:
        """Yield pieces of the matrix, group by group."""
        for start, stop in self.bounds():
            yield start, stop, DenseBlock(self.X[start:stop], segments(groups[start:stop]))


@dataclass(frozen=True, eq=False)
class DenseBlock(Block):
    """A piece of a matrix whose rows are sorted by group: one product per group in it."""

    X: Floats
    segments: list[tuple[int, int, int]]

    def logits(self, table: Floats) -> Floats:
        """Return weights times columns, plus the intercept."""
        logits = np.empty(len(self.X))
        for group, start, stop in self.segments:
            part = logits[start:stop]
            np.dot(self.X[start:stop], table[group, :-1], out=part)
            part += table[group, -1]
        return logits

    def add_sums(self, values: Floats, sums: Floats) -> None:
        """Add every row times its value, and the values."""
        for group, start, stop in self.segments:
            part = values[start:stop]
            sums[group, :-1] += part @ self.X[start:stop]
            sums[group, -1] += part.sum()


def column_scales(X: Floats) -> tuple[Floats, Floats]:
    """Return the largest entry in size, and the root mean square of entries not 0, by column."""
    if len(X) == 0:
        return np.zeros(X.shape[1]), np.full(X.shape[1], np.nan)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        squares = np.einsum("ij,ij->j", X, X)
        return np.abs(X).max(axis=0), np.sqrt(squares / np.count_nonzero(X, axis=0))
