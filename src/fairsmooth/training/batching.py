"""Which rows make the next batch: shuffled, drawn, or cyclic per cell."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairsmooth.data.groups import Groups
from fairsmooth.exceptions import InputError


def shuffled_batches(
    n_rows: int, batch_size: int, *, generator: torch.Generator, drop_last: bool = False
) -> Iterator[Tensor]:
    """Yield one epoch of row numbers in random order, ``batch_size`` at a time.

    Parameters
    ----------
    n_rows, batch_size : int
        Rows in all and rows per batch; a batch may be as large as all rows.
    generator : torch.Generator
        Where the order comes from.
    drop_last : bool
        Leave out a last, smaller batch, unless it is the only one.

    Examples
    --------
    >>> batches = shuffled_batches(5, 2, generator=torch.Generator().manual_seed(0))
    >>> [len(batch) for batch in batches]
    [2, 2, 1]
    """
    order = torch.randperm(n_rows, generator=generator)
    keep = n_rows - n_rows % batch_size if drop_last and n_rows > batch_size else n_rows
    for start in range(0, keep, batch_size):
        yield order[start : min(start + batch_size, keep)]


def rows_by_cell(y: NDArray[np.integer[Any]], groups: Groups) -> list[list[Tensor]]:
    """Return the row numbers of every cell, ``rows[label][group]``, as int64 tensors.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels 0 and 1.
    groups : Groups
        Group of every row.

    Examples
    --------
    >>> rows_by_cell(np.array([0, 1, 1]), Groups(("a", "b"), np.array([0, 0, 1])))
    [[tensor([0]), tensor([], dtype=torch.int64)], [tensor([1]), tensor([2])]]
    """
    by_group = groups.rows()
    return [
        [torch.from_numpy(rows[y[rows] == label].astype(np.int64)) for rows in by_group]
        for label in (0, 1)
    ]


def draw_rows(rows: Tensor, count: int, *, generator: torch.Generator) -> Tensor:
    """Draw ``count`` of the given rows at random.

    Without replacement where there are enough of them; otherwise all of them
    in random order, repeated as often as ``count`` needs, so that no row is
    drawn more than once oftener than another.

    Examples
    --------
    >>> generator = torch.Generator().manual_seed(0)
    >>> draw_rows(torch.tensor([7, 8, 9]), 3, generator=generator).sort().values
    tensor([7, 8, 9])
    """
    _require_rows(rows)
    order = torch.randperm(len(rows), generator=generator)
    return rows[order[torch.arange(count) % len(rows)]]


def cyclic_batches(
    cells: Sequence[Tensor], sizes: Sequence[int], n_batches: int, *, generator: torch.Generator
) -> Tensor:
    """Compose batches with a fixed number of rows from every cell.

    Every cell is shuffled once, then consumed in that order, from its first
    row again when it is used up.

    Parameters
    ----------
    cells : sequence of int64 tensors
        Row numbers of each cell.
    sizes : sequence of int
        Rows that each cell gives to each batch; 0 leaves a cell out.
    n_batches : int
        Number of batches.
    generator : torch.Generator
        Where the orders come from.

    Returns
    -------
    Tensor of shape (n_batches, sum(sizes))
        Row numbers, a batch per row.

    Examples
    --------
    >>> cells = torch.tensor([0, 1]), torch.tensor([5])
    >>> batches = cyclic_batches(cells, (1, 2), 2, generator=torch.Generator().manual_seed(0))
    >>> batches[:, 0].sort().values, batches[:, 1:].tolist()
    (tensor([0, 1]), [[5, 5], [5, 5]])
    """
    used = [(rows, size) for rows, size in zip(cells, sizes, strict=True) if size > 0]
    if not used:
        raise InputError(f"Expected at least one batch size > 0, got {tuple(sizes)}.")
    parts = [
        draw_rows(rows, n_batches * size, generator=generator).view(n_batches, size)
        for rows, size in used
    ]
    return torch.cat(parts, dim=1)


def _require_rows(rows: Tensor) -> None:
    if len(rows) == 0:
        raise InputError("Expected rows to draw from, got an empty cell.")
