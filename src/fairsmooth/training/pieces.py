"""Pieces of rows that are sorted by group, each with the groups that it meets.

A piece of a few thousand rows meets few groups, so it reads and adds to their part of the table
alone: with hundreds of groups the whole table is larger than the piece. Of a small table the
places of the rows' levels are found once and kept from pass to pass.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fairsmooth._types import Floats
from fairsmooth.core.rows import CodedRows, Rows
from fairsmooth.core.rows.coded import CodedBlock
from fairsmooth.core.rows.packing import NO_FEATURE
from fairsmooth.core.rows.rows import Block, Index
from fairsmooth.core.rows.unpacked import source_columns

# Places that are kept, of 4 bytes each: 16 MiB.
MOST_KEPT = 2**22
# Measured: an entry of a table of levels takes as long as so many places, from the parameters
# to the table and from its sums to the gradient.
_PLACES_OF_ENTRY = 5


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows ``start`` to ``stop``, whose groups are ``first`` to ``last - 1``."""

    start: int
    stop: int
    first: int
    last: int
    block: Block

    def logits(self, table: Floats) -> Floats:
        """Return the logits of the rows for a table ``(K, T)`` of all groups."""
        return self.block.logits(table[self.first : self.last])

    def add_sums(self, values: Floats, sums: Floats) -> None:
        """Add every row's value to the entries of ``sums`` (K, T) that it reads."""
        self.block.add_sums(values, sums[self.first : self.last])


class Pieces(ABC):
    """All rows, and the table that they read; a piece is valid until the next one."""

    @abstractmethod
    def __iter__(self) -> Iterator[Piece]:
        """Yield all rows."""

    @abstractmethod
    def table(self, parameters: Floats) -> Floats:
        """Return the table ``(K, T)`` of parameters ``(K, m)``."""

    @abstractmethod
    def gradient(self, sums: Floats) -> Floats:
        """Return sums ``(K, T)`` by parameter, (K, m)."""


@dataclass(frozen=True, eq=False)
class _Streamed(Pieces):
    """Rows whose places are found anew in every pass."""

    rows: Rows
    groups: Index

    def __iter__(self) -> Iterator[Piece]:
        rows, groups = self.rows, self.groups
        if not isinstance(rows, CodedRows):
            # Cutting these costs more than their groups' part of the table saves.
            for start, stop, block in rows.blocks(groups):
                yield Piece(start, stop, 0, int(groups[-1]) + 1, block)
            return
        for start, stop in rows.bounds():
            first, last = _groups_of(groups, start, stop)
            own = rows.take(slice(start, stop)).blocks(groups[start:stop] - groups[start])
            yield Piece(start, stop, first, last, next(own)[2])

    def table(self, parameters: Floats) -> Floats:
        """Let the rows say."""
        return self.rows.table(parameters)

    def gradient(self, sums: Floats) -> Floats:
        """Let the rows say."""
        return self.rows.gradient(sums)


@dataclass(frozen=True, eq=False)
class _Kept(_Streamed):
    """Rows of which the places of their levels are kept."""

    pieces: Sequence[Piece]

    @classmethod
    def of(cls, rows: CodedRows, groups: Index) -> "_Kept":
        """Find all places."""
        width, ones = _width(rows), np.ones(rows.chunk_rows * rows.codes.shape[1])
        found = list(_Streamed(rows, groups))
        return cls(rows, groups, [_kept(piece, width, ones) for piece in found])

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces)


@dataclass(frozen=True, eq=False)
class _ByParameter(Pieces):
    """Rows of which the places of their parameters are kept: the table is the parameters.

    Its last column is the 0 of levels without a feature.
    """

    pieces: Sequence[Piece]

    @classmethod
    def of(cls, rows: CodedRows, groups: Index) -> "_ByParameter":
        """Find all places."""
        columns, width = source_columns(rows), rows.shape[1] + 2
        zero, intercept = width - 1, width - 2
        behind = [np.where(c.features == NO_FEATURE, zero, c.features) for c in columns]
        ones, found = np.ones(rows.chunk_rows * (len(columns) + 1)), []
        for start, stop in rows.bounds():
            places = np.empty((stop - start, len(columns) + 1), dtype=np.int32)
            for at, (column, parameters) in enumerate(zip(columns, behind, strict=True)):
                places[:, at] = parameters[rows.codes[start:stop, column.code]]
            places[:, -1] = intercept
            places += ((groups[start:stop] - groups[start]).astype(np.int32) * width)[:, None]
            piece = Piece(start, stop, *_groups_of(groups, start, stop), CodedBlock(places))
            found.append(_kept(piece, width, ones))
        return cls(found)

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces)

    def table(self, parameters: Floats) -> Floats:
        """Put 0 after the parameters."""
        return np.column_stack([parameters, np.zeros(len(parameters))])

    def gradient(self, sums: Floats) -> Floats:
        """Leave out what levels without a feature got."""
        return np.ascontiguousarray(sums[:, :-1])


@dataclass(frozen=True, eq=False)
class _KeptBlock(Block):
    """Coded rows as the sparse 0/1 matrix that they are."""

    matrix: Any

    def logits(self, table: Floats) -> Floats:
        """Add up table entries."""
        return np.asarray(self.matrix @ table.ravel())

    def add_sums(self, values: Floats, sums: Floats) -> None:
        """Add every row's value to its table entries."""
        sums += (self.matrix.T @ values).reshape(sums.shape)


def pieces_of(rows: Rows, groups: Index, n_groups: int) -> Pieces:
    """Choose how to go over rows, of which the groups do not decrease."""
    if not isinstance(rows, CodedRows) or rows.codes.size > MOST_KEPT or not len(rows):
        return _Streamed(rows, groups)
    n_places = len(rows) * (len(source_columns(rows)) + 1)
    saved = _PLACES_OF_ENTRY * n_groups * _width(rows)
    few = n_places <= MOST_KEPT and n_places - rows.codes.size < saved
    return (_ByParameter if few and not len(rows.number_features) else _Kept).of(rows, groups)


def _groups_of(groups: Index, start: int, stop: int) -> tuple[int, int]:
    return int(groups[start]), int(groups[stop - 1]) + 1


def _width(rows: CodedRows) -> int:
    """Return the number of entries of a group's part of the table."""
    return int(rows.table(np.zeros((1, rows.shape[1] + 1))).shape[1])


def _kept(piece: Piece, width: int, ones: Floats) -> Piece:
    """Return a piece with its places as the matrix that they are, if they are all it has."""
    if not isinstance(piece.block, CodedBlock):
        return piece
    places = piece.block.places
    ends = np.arange(len(places) + 1, dtype=places.dtype) * places.dtype.type(places.shape[1])
    shape = len(places), (piece.last - piece.first) * width
    matrix = csr_array((ones[: places.size], places.ravel(), ends), shape=shape)
    return replace(piece, block=_KeptBlock(matrix))
