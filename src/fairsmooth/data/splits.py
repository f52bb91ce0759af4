"""Rows set apart at random: held out cell by cell, stratified, or simply some of them.

A cell is a group, mostly with a label. Nothing here draws from a global stream: the source of
randomness is an argument.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth.core.ranks import ALONE, Ranks

Rows = NDArray[np.intp]
Permute = Callable[[int], NDArray[np.integer[Any]]]
"""From a number of rows to a random order of them: ``numpy.random.Generator.permutation``."""


def hold_out(
    cells: NDArray[np.integer[Any]],
    share: float,
    *,
    permute: Permute,
    whole: Callable[[float], int] = round,
    ranks: Ranks = ALONE,
) -> tuple[Rows, Rows]:
    """Set aside a share of every cell, chosen at random.

    Every cell gives ``share`` of its rows and keeps at least one. What a cell is made of
    (group and label, or group alone, as a guarantee needs) is the caller's choice.

    Parameters
    ----------
    cells : ndarray of int, shape (n,)
        The cell of every row, numbered from 0.
    share : float
        Between 0 and 1.
    permute : callable
        Where the choice comes from; called once per cell, in their order.
    whole : callable
        Makes a number of rows of a product: ``round``, or ``int`` to round down.
    ranks : Ranks
        Who holds the rows. With several, those of one after those of another are split as if
        they were in one place.

    Returns
    -------
    kept, held_out : ndarray of int
        Row numbers in increasing order; together they are all rows.

    Examples
    --------
    >>> permute = np.random.default_rng(0).permutation
    >>> kept, held_out = hold_out(np.array([0, 0, 0, 0, 1]), 0.5, permute=permute)
    >>> len(kept), len(held_out)
    (3, 2)
    """
    held = np.zeros(len(cells), dtype=bool)
    by_cell = np.argsort(cells, kind="stable")
    n_cells = max(ranks.gather(int(cells.max(initial=-1)) + 1))
    counts = np.bincount(cells, minlength=n_cells)
    before, totals = (each.astype(np.int64).tolist() for each in ranks.placed(counts))
    for cell, rows in enumerate(np.split(by_cell, np.cumsum(counts)[:-1])):
        count = max(0, min(totals[cell] - 1, whole(share * totals[cell])))
        places = permute(totals[cell])[:count] - before[cell]
        held[rows[places[(places >= 0) & (places < len(rows))]]] = True
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
