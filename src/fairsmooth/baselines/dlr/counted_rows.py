"""Distinct rows with how many rows of every label and group each stands for."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fairsmooth._types import Floats, Labels
from fairsmooth.baselines._kit.merged_rows import merged_rows


class CountedRows:
    """The rows of a sample, equal ones counted instead of repeated.

    Loss, gradient, shares and slopes at one point all begin with the scores there, which
    are kept until another point is asked for.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        The rows, with the column of ones.
    y : ndarray of int, shape (n,)
        Their labels, 0 or 1.
    codes : ndarray of int, shape (n,)
        Their observed groups.
    n_groups : int
        Number of groups.

    Attributes
    ----------
    matrix : csr_array of shape (m, d)
        The distinct rows.
    counts : ndarray of shape (m, 2, K)
        How many rows of a label and group equal each of them.
    """

    def __init__(self, rows: Floats, y: Labels, codes: NDArray[np.intp], n_groups: int) -> None:
        distinct = merged_rows(rows)
        cells = (distinct.number * 2 + y) * n_groups + codes
        counts = np.bincount(cells, minlength=len(distinct.rows) * 2 * n_groups)
        self.matrix = csr_array(distinct.rows)
        self.counts: Floats = counts.reshape(-1, 2, n_groups).astype(np.float64)
        self._at: bytes | None = None
        self._scores = np.zeros(0)

    def scores(self, coefficients: Floats) -> Floats:
        """Return the linear scores of the distinct rows, shape (m,)."""
        at = coefficients.tobytes()
        if at != self._at:
            self._at, self._scores = at, np.asarray(self.matrix @ coefficients)
        return self._scores
