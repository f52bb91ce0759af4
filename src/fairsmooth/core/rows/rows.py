r"""What training and scoring ask of rows, whatever form they are kept in.

A linear model with parameters ``W_k`` of group ``k`` needs two things of its rows: the logits
:math:`w_k \cdot x + b_k`, and sums :math:`\sum_i r_i (x_i, 1)` by group. Both go through a
*table*: what every level of a coded column, or every column, adds to a logit. For all groups
at once the table is ``(K, T)``, a row of group ``k`` reads row ``k`` of it, and the two
operations are a product with one sparse matrix and with its transpose.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats

Index = NDArray[np.integer[Any]]
# Which rows: numbers, a slice, or a mask.
Choice = Index | slice | NDArray[np.bool_]
# Entries of a dense piece: few enough to stay in a processor's cache.
DENSE_ENTRIES = 2**18
# Dense pieces are whole multiples of the rows that smoothing works on at once.
PIECE_ROWS = 4096


class Block(ABC):
    """Some rows, each in its group, as a linear map from tables ``(K, T)`` to logits."""

    @abstractmethod
    def logits(self, table: Floats) -> Floats:
        """Return the logit of every row for a table ``(K, T)``."""

    @abstractmethod
    def add_sums(self, values: Floats, sums: Floats) -> None:
        """Add to ``sums`` (K, T) what the transposed map makes of one value per row."""


class Rows(ABC):
    """Rows in one form; frozen, and cheap to cut into pieces."""

    chunk_rows: int

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Choice) -> Self:
        return self.take(rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.toarray(), dtype=dtype)

    @abstractmethod
    def take(self, rows: Choice) -> Self:
        """Return some of the rows, in the order of their numbers."""

    @abstractmethod
    def toarray(self) -> Floats:
        """Return all entries, float64 in C order."""

    @abstractmethod
    def squared_norms(self) -> Floats:
        r"""Return :math:`\lVert x\rVert^2` of every row."""

    @abstractmethod
    def squared(self) -> Self:
        """Return rows with every entry squared."""

    @abstractmethod
    def scales(self) -> tuple[Floats, Floats]:
        """Return, by feature, the largest entry in size and the root mean square of those not 0.

        Where all are 0 the second is NaN.
        """

    @abstractmethod
    def table(self, parameters: Floats) -> Floats:
        """Return the table ``(K, T)`` of parameters ``(K, d + 1)``, the intercept last."""

    @abstractmethod
    def gradient(self, sums: Floats) -> Floats:
        """Return sums ``(K, d + 1)`` of features and of 1, for sums ``(K, T)`` by table entry."""

    @abstractmethod
    def blocks(self, groups: Index) -> Iterator[tuple[int, int, Block]]:
        """Yield start, stop and rows of every piece; ``groups`` of all rows do not decrease.

        A block is valid until the next one is asked for.
        """

    def bounds(self) -> Iterator[tuple[int, int]]:
        """Yield the ends of pieces that are worked on at once."""
        for start in range(0, len(self), self.chunk_rows):
            yield start, min(start + self.chunk_rows, len(self))

    def logits(self, parameters: Floats) -> Floats:
        """Return the logits of all rows for one parameter vector ``(d + 1,)``."""
        return self._apply(self.table(parameters[None, :]))

    def _apply(self, table: Floats) -> Floats:
        logits = np.empty(len(self))
        for start, stop, block in self.blocks(np.zeros(len(self), dtype=np.int8)):
            logits[start:stop] = block.logits(table)
        return logits

    def dense_pieces(self) -> Iterator[Floats]:
        """Yield all rows in dense pieces of a few thousand, in order."""
        size = max(1, 16 * DENSE_ENTRIES // max(1, self.shape[1]) // PIECE_ROWS) * PIECE_ROWS
        for start in range(0, len(self), size):
            yield self.take(slice(start, start + size)).toarray()


def segments(groups: Index) -> list[tuple[int, int, int]]:
    """Return group, start and stop of every run of equal, non-decreasing groups.

    Examples
    --------
    >>> segments(np.array([0, 0, 2]))
    [(0, 0, 2), (2, 2, 3)]
    """
    if len(groups) == 0:
        return []
    first, last = int(groups[0]), int(groups[-1])
    ends = np.searchsorted(groups, np.arange(first, last + 1), side="right").tolist()
    starts = [0, *ends[:-1]]
    found = zip(range(first, last + 1), starts, ends, strict=True)
    return [(group, start, stop) for group, start, stop in found if stop > start]


def spelt_out(features: Any) -> Floats:
    """Return encoded rows spelt out, one number per feature."""
    return features.toarray() if isinstance(features, Rows) else np.asarray(features, np.float64)
