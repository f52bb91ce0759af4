"""Weighted sums over the cells (group, label), from which every rate follows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.metrics._averages import RATES


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
        """Return the weight of each cell, (r, K, 2), and its weighted sums, (r, K, 2, c).

        ``weights`` has shape (r, n): one row for each of ``r`` weightings.
        """
        sorted_weights = weights[:, self.order]
        spans = list(zip(self.edges[:-1], self.edges[1:], strict=True))
        totals = np.stack([sorted_weights[:, a:b].sum(axis=1) for a, b in spans], axis=1)
        sums = np.stack([sorted_weights[:, a:b] @ self.columns[a:b] for a, b in spans], axis=1)
        shape = (len(weights), len(spans) // 2, 2)
        return totals.reshape(shape), sums.reshape(*shape, -1)


def into_cells(
    columns: Floats, *, y: NDArray[np.integer], codes: NDArray[np.integer], n_groups: int
) -> Cells:
    """Sort rows by group and label."""
    cell = 2 * codes + y
    order = np.argsort(cell, kind="stable")
    edges = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=2 * n_groups))])
    return Cells(columns[order], order, edges)


def rates_of(totals: Floats, sums: Floats) -> dict[str, Floats]:
    """Return every rate of each group, then of all rows, per column: (c, r, K + 1).

    A column is a score: the error of a negative row is the score, of a positive
    row one minus the score.
    """
    weight = _with_everyone(totals)
    total = _with_everyone(np.moveaxis(sums, -1, 0))
    errors = total[..., 0] + weight[..., 1] - total[..., 1]
    parts = (
        _share(total.sum(axis=-1), weight.sum(axis=-1)),
        _share(total[..., 1], weight[..., 1]),
        _share(total[..., 0], weight[..., 0]),
        _share(errors, weight.sum(axis=-1)),
    )
    return dict(zip(RATES, parts, strict=True))


def _with_everyone(cells: Floats) -> Floats:
    return np.concatenate([cells, cells.sum(axis=-2, keepdims=True)], axis=-2)


def _share(part: Floats, whole: Floats) -> Floats:
    whole = np.broadcast_to(whole, part.shape)
    share = np.full(part.shape, np.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share
