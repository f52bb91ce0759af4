"""Pieces of rows that are sorted by group, each with the groups that it meets.

A piece of a few thousand rows meets few groups, so it reads and adds to their part of the table
alone: with hundreds of groups the whole table is larger than the piece. Of a small table the
places of the rows' levels are found once and kept from pass to pass.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fairsmooth._types import Floats
from fairsmooth.core.rows import CodedRows, Rows
from fairsmooth.core.rows.coded import CodedBlock
from fairsmooth.core.rows.rows import Block, Index

# Codes up to which their places are kept, of 4 bytes each: 16 MiB.
MOST_KEPT = 2**22


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


def pieces(rows: Rows, groups: Index) -> Iterator[Piece]:
    """Yield all rows, of which the groups do not decrease; a piece is valid until the next one."""
    if not isinstance(rows, CodedRows):
        # Cutting these costs more than their groups' part of the table saves.
        for start, stop, block in rows.blocks(groups):
            yield Piece(start, stop, 0, int(groups[-1]) + 1, block)
        return
    for start, stop in rows.bounds():
        first, last = int(groups[start]), int(groups[stop - 1]) + 1
        own = rows.take(slice(start, stop)).blocks(groups[start:stop] - groups[start])
        yield Piece(start, stop, first, last, next(own)[2])


def kept_pieces(rows: Rows, groups: Index) -> Sequence[Piece] | None:
    """Return all pieces at once, for good, or None if they would take much memory."""
    if not isinstance(rows, CodedRows) or rows.codes.size > MOST_KEPT or not len(rows):
        return None
    width = rows.table(np.zeros((1, rows.shape[1] + 1))).shape[1]
    ones = np.ones(min(len(rows), rows.chunk_rows) * rows.codes.shape[1])
    found = list(pieces(rows, groups))
    return [
        replace(piece, block=_kept(piece.block, (piece.last - piece.first) * width, ones))
        for piece in found
    ]


def _kept(block: Block, table_size: int, ones: Floats) -> Block:
    if not isinstance(block, CodedBlock):
        return block
    places = block.places
    ends = np.arange(len(places) + 1, dtype=places.dtype) * places.dtype.type(places.shape[1])
    entries = ones[: places.size], places.ravel(), ends
    return _KeptBlock(csr_array(entries, shape=(len(places), table_size)))
