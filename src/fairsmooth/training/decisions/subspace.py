r"""The few directions that a search moves in, out of however many columns there are.

The best rule within limits weighs forecasts :math:`P(A = a, Y = y \mid x)`
(:mod:`~fairsmooth.training.decisions.program`). Their least-squares forecasts from the
columns are linear, so every such rule is linear in the columns too. They span the
directions, together with the classifier that training found.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats

# Of the mean square of the columns: keeps collinear columns from weights without bound.
_RIDGE = 1e-6
# Singular values below this share of the largest are rounding errors.
_RANK = 1e-8


@dataclass(frozen=True, eq=False)
class Subspace:
    """Coordinates for rules that are linear in the columns.

    Attributes
    ----------
    directions : ndarray of shape (d + 1, p)
        Weights of the columns, then of the intercept, by coordinate.
    coordinates : ndarray of shape (n, p)
        What the rows have of each direction: uncorrelated, of mean square 1.
    """

    directions: Floats
    coordinates: Floats

    @classmethod
    def spanned(cls, X: Floats, directions: Floats) -> "Subspace":
        """Return the span of some rules (d + 1, q), and of the constant rule."""
        constant = np.zeros((len(directions), 1))
        constant[-1] = 1.0
        every = np.concatenate([directions, constant], axis=1)
        made = X @ every[:-1] + every[-1]
        length = np.sqrt((made * made).mean(axis=0))
        used = length > 0.0
        every, made = every[:, used] / length[used], made[:, used] / length[used]
        _, sizes, right = np.linalg.svd(made / np.sqrt(len(X)), full_matrices=False)
        kept = sizes > _RANK * sizes[0]
        turn = right[kept].T / sizes[kept]
        return cls(every @ turn, made @ turn)

    def weights(self, point: Floats) -> Floats:
        """Return the rule at a point: weights of the columns, then the intercept."""
        return np.asarray(self.directions @ point)

    def point(self, scores: Floats) -> Floats:
        """Return the point whose scores on the rows are nearest to the given ones."""
        return np.asarray(self.coordinates.T @ scores / len(scores))


def forecast_cells(
    X: Floats, cells: NDArray[np.intp], n_cells: int, *, noise: Floats | None = None
) -> Floats:
    """Return the least-squares forecast of every cell's indicator, (d + 1, n_cells).

    Weights of the columns, then the intercept. Forecasts of a row add up to 1. ``noise`` is
    the variance of columns that are known up to independent noise: what it adds to the
    squared error of a forecast is counted.
    """
    center = X.mean(axis=0)
    spread = X - center
    gram = spread.T @ spread
    ridge = _RIDGE * max(float(np.trace(gram)) / len(gram), 1e-300)
    gram[np.diag_indices_from(gram)] += ridge + (0.0 if noise is None else len(X) * noise)
    shares = np.bincount(cells, minlength=n_cells) / len(cells)
    sums = np.stack([spread[cells == cell].sum(axis=0) for cell in range(n_cells)], axis=1)
    weights = np.linalg.solve(gram, sums)
    return np.concatenate([weights, (shares - center @ weights)[None, :]])


def coarse_cells(forecasts: Floats, *, most: int) -> NDArray[np.intp]:
    """Return a cell for every row: halved at medians, again and again, column by column.

    At most ``most`` cells, a power of two, each of nearly as many rows.
    """
    rows = len(forecasts)
    depth = min(int(np.log2(most)), max(int(np.log2(max(rows, 1))), 0))
    code = np.zeros(rows, dtype=np.intp)
    for level in range(depth):
        column = forecasts[:, level % forecasts.shape[1]]
        order = np.lexsort((column, code))
        # Within every cell of this level, the upper half by rank gets the next bit.
        starts = np.searchsorted(code[order], np.arange(2**level + 1))
        rank = np.arange(rows) - np.repeat(starts[:-1], np.diff(starts))
        upper = 2 * rank >= np.repeat(np.diff(starts), np.diff(starts))
        fresh = np.empty_like(code)
        fresh[order] = 2 * code[order] + upper
        code = fresh
    return code
