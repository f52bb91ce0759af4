"""Rows cut in two, cell by cell."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._random import numpy_generator

Rows = NDArray[np.intp]


def split_rows(
    cells: NDArray[np.integer[Any]], share: float, *, seed: int, name: str
) -> tuple[Rows, Rows]:
    """Set aside a share of every cell, chosen at random.

    Every cell gives ``share`` of its rows, rounded, and keeps at least one. Only the
    cells and the seed decide: what a cell is made of (group and label, or group alone,
    as a guarantee needs) is the caller's choice.

    Parameters
    ----------
    cells : ndarray of int, shape (n,)
        The cell of every row, numbered from 0.
    share : float
        Between 0 and 1.
    seed : int
    name : str
        What the split is for; another name gives another split.

    Returns
    -------
    kept, set_aside : ndarrays of int
        Row numbers in increasing order; together they are all rows.

    Examples
    --------
    >>> kept, set_aside = split_rows(np.array([0, 0, 0, 0, 1]), 0.5, seed=0, name="test")
    >>> len(kept), len(set_aside)
    (3, 2)
    """
    generator = numpy_generator(seed, "split", name)
    order = np.argsort(cells, kind="stable")
    aside = np.zeros(len(cells), dtype=bool)
    for rows in np.split(order, np.cumsum(np.bincount(cells))[:-1]):
        count = min(len(rows) - 1, round(share * len(rows)))
        aside[generator.permutation(rows)[: max(0, count)]] = True
    return np.flatnonzero(~aside), np.flatnonzero(aside)
