"""Equal rows found once, so that whatever sums over rows can sum over the distinct ones."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats

# Above this share of distinct rows, merging saves less than looking rows up costs.
_WORTH_BELOW = 0.75

# Rows hashed at a time, so that what is made on the way stays in the processor's cache.
_CHUNK = 1024


class DistinctRows(NamedTuple):
    """Distinct rows, and which of them every given row is.

    Attributes
    ----------
    rows : ndarray of shape (m, d)
        The rows that differ.
    inverse : ndarray of int, shape (n,)
        ``rows[inverse]`` are the given rows.
    """

    rows: Floats
    inverse: NDArray[np.intp]

    def summed(self, weights: Floats) -> Floats:
        """Add up the weights of equal rows, shape (m,)."""
        return np.asarray(np.bincount(self.inverse, weights, minlength=len(self.rows)), np.float64)


def distinct_rows(X: Floats) -> DistinctRows:
    """Return the distinct rows of ``X``, or ``X`` as it is where hardly any are equal.

    Rows are told apart by a 64-bit hash of their entries and then compared entry
    by entry, so that rows of equal hash are never taken for equal rows.

    Examples
    --------
    >>> found = distinct_rows(np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [-0.0, 1.0]]))
    >>> len(found.rows), found.rows[found.inverse].tolist()
    (2, [[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [0.0, 1.0]])
    """
    rows = np.ascontiguousarray(X, dtype=np.float64)
    _, first, inverse = np.unique(_hashes(rows), return_index=True, return_inverse=True)
    if len(first) > _WORTH_BELOW * len(rows):
        return DistinctRows(rows, np.arange(len(rows)))
    if not np.array_equal(rows[first][inverse], rows):
        found, inverse = np.unique(rows, axis=0, return_inverse=True)
        return DistinctRows(found, inverse.reshape(-1))
    return DistinctRows(rows[first], inverse)


def _hashes(rows: Floats) -> NDArray[np.uint64]:
    draw = np.random.default_rng(0).integers
    factors = draw(2**63, 2**64, rows.shape[1], dtype=np.uint64) | np.uint64(1)
    hashes = np.empty(len(rows), dtype=np.uint64)
    for start in range(0, len(rows), _CHUNK):
        # Adding 0 makes -0 the 0 that it equals.
        bits = (rows[start : start + _CHUNK] + 0.0).view(np.uint64)
        # Simple numbers have their bits on top, where a product modulo 2^64 loses them.
        bits ^= (bits >> np.uint64(52)) ^ (bits >> np.uint64(32))
        hashes[start : start + _CHUNK] = bits @ factors
    return hashes
