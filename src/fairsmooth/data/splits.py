"""Rows set apart at random: held out cell by cell, stratified, or simply some of them.

A cell is a group with a label. Nothing here draws from a global stream: the source of
randomness is an argument.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth.data.groups import Groups

Rows = NDArray[np.intp]
Permute = Callable[[int], NDArray[np.integer[Any]]]
"""From a number of rows to a random order of them: ``numpy.random.Generator.permutation``."""


def hold_out(
    y: NDArray[np.integer[Any]], groups: Groups, fraction: float, *, permute: Permute
) -> tuple[Rows, Rows]:
    """Split rows into those to train on and those to validate on, cell by cell.

    Every cell gives the same fraction of its rows, rounded down, so that with a
    fraction below 1 it keeps at least one to train on.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels 0 and 1.
    groups : Groups
        Group of every row.
    fraction : float
        Share of each cell to set aside, at least 0 and below 1.
    permute : callable
        Where the choice comes from; called once per cell, first those of label 0.

    Returns
    -------
    training, held_out : ndarray of int
        Row numbers in increasing order; together they are all rows.

    Examples
    --------
    >>> groups = Groups(("a", "b"), np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    >>> y = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    >>> training, held = hold_out(y, groups, 0.5, permute=np.random.default_rng(0).permutation)
    >>> len(training), len(held)
    (4, 4)
    """
    cells = y * len(groups.labels) + groups.codes
    held = np.zeros(len(y), dtype=bool)
    for cell in range(2 * len(groups.labels)):
        rows = np.flatnonzero(cells == cell)
        held[rows[permute(len(rows))[: int(fraction * len(rows))]]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


def stratified_mask(
    cells: NDArray[np.integer[Any]], share: float, *, permute: Permute
) -> NDArray[np.bool_]:
    """Mark ``round(share * n)`` rows, ``share`` of every cell up to a rounding of one row."""
    order = permute(len(cells))
    order = order[np.argsort(cells[order], kind="stable")]
    counts = np.bincount(cells)
    starts = np.cumsum(counts) - counts
    # Rounding the running total, not each cell, keeps the sum exact.
    marked = np.round(np.cumsum(counts) * share).astype(np.intp)
    marked_per_cell = np.diff(marked, prepend=0)
    place = np.arange(len(cells)) - np.repeat(starts, counts)
    mask = np.zeros(len(cells), dtype=bool)
    mask[order] = place < np.repeat(marked_per_cell, counts)
    return mask


def random_rows(n_rows: int, count: int, *, permute: Permute) -> Rows:
    """Draw rows without replacement; row numbers in increasing order.

    Examples
    --------
    >>> random_rows(5, 9, permute=np.random.default_rng(0).permutation).tolist()
    [0, 1, 2, 3, 4]
    """
    return np.sort(permute(n_rows)[:count])
