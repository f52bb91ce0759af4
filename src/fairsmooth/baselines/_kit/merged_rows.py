"""Equal rows merged, so that whatever sums over rows can sum over the distinct ones."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.baselines._kit.distinct_rows import few_distinct_rows

# Above this share of distinct rows, merging saves less than looking rows up costs.
_WORTH_BELOW = 0.75


class MergedRows(NamedTuple):
    """Rows, equal ones merged or not, and which of them every given row is.

    Attributes
    ----------
    rows : ndarray of shape (m, d)
        The rows that are kept.
    number : ndarray of int, shape (n,)
        ``rows[number]`` are the given rows.
    """

    rows: Floats
    number: NDArray[np.intp]

    def summed(self, weights: Floats) -> Floats:
        """Add up the weights of equal rows, shape (m,)."""
        return np.asarray(np.bincount(self.number, weights, minlength=len(self.rows)), np.float64)


def merged_rows(X: Floats) -> MergedRows:
    """Return the distinct rows of ``X``, or ``X`` as it is where hardly any are equal.

    Examples
    --------
    >>> found = merged_rows(np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [-0.0, 1.0]]))
    >>> len(found.rows), found.rows[found.number].tolist()
    (2, [[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [0.0, 1.0]])
    """
    found = few_distinct_rows(X, int(_WORTH_BELOW * len(X)))
    if found is None:
        return MergedRows(X, np.arange(len(X)))
    return MergedRows(found.rows, found.number)
