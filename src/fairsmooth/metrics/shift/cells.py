"""Rows sorted into cells once, so that many weightings can be summed by matrix products."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.data.groups import Groups


@dataclass(frozen=True)
class Cells:
    """Columns of row values sorted into cells, ready to be summed under any weights.

    Attributes
    ----------
    columns : ndarray of shape (n, c)
        Values in [0, 1], sorted by cell.
    order : ndarray of shape (n,)
        The rows in that order.
    edges : ndarray of shape (2K + 1,)
        Where each cell begins: group 0 label 0, group 0 label 1, group 1 label 0, ...
    """

    columns: Floats
    order: NDArray[np.intp]
    edges: NDArray[np.intp]

    def sums(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the weight of each cell, (r, K, 2), and its sums by column, (c, r, K, 2).

        ``weights`` has shape (r, n): one row for each of ``r`` weightings. What
        :func:`fairsmooth.metrics.rates.cell_sums` does for one column and equal weights.
        """
        sorted_weights = weights[:, self.order]
        spans = list(zip(self.edges[:-1], self.edges[1:], strict=True))
        totals = np.stack([sorted_weights[:, a:b].sum(axis=1) for a, b in spans], axis=1)
        sums = np.stack([sorted_weights[:, a:b] @ self.columns[a:b] for a, b in spans], axis=1)
        shape = (len(weights), len(spans) // 2, 2)
        return totals.reshape(shape), np.moveaxis(sums.reshape(*shape, -1), -1, 0)


def into_cells(columns: Floats, *, y: NDArray[np.integer], groups: Groups) -> Cells:
    """Sort rows by group and label."""
    cell = 2 * groups.codes + y
    order = np.argsort(cell, kind="stable")
    edges = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=2 * len(groups.labels)))])
    return Cells(columns[order], order, edges)
