"""Which rows of a table are the same row, where there are few different ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HALF = np.uint64(32)
# How many times as many rows as may be distinct are looked at first.
_TRIED = 4


@dataclass(frozen=True)
class DistinctRows:
    """The different rows of a table, and which of them every row is.

    Attributes
    ----------
    rows : ndarray of shape (D, d)
        Every different row once.
    number : ndarray of shape (n,)
        ``rows[number]`` is the table.
    """

    rows: NDArray[Any]
    number: NDArray[np.intp]


def few_distinct_rows(X: NDArray[Any], most: int) -> DistinctRows | None:
    """Return the distinct rows of a table, or None if there are more than ``most``.

    Rows are told apart by a hash of their bits, and then compared, so that what
    is returned is exact. Two different rows of one hash, which chance brings
    about once in trillions of pairs, give None.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The table.
    most : int
        From how many distinct rows on they are of no use to the caller.

    Examples
    --------
    >>> found = few_distinct_rows(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]), 2)
    >>> len(found.rows), found.rows[found.number].tolist()
    (2, [[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]])
    >>> few_distinct_rows(np.eye(3), 2) is None
    True
    """
    beginning = X[: _TRIED * most]
    if len(beginning) < len(X) and len(np.unique(_hashes(beginning))) > most:
        return None
    _, first, number = np.unique(_hashes(X), return_index=True, return_inverse=True)
    if len(first) > most:
        return None
    rows = X[first]
    return DistinctRows(rows, number) if np.array_equal(rows[number], X) else None


def _hashes(X: NDArray[Any]) -> NDArray[Any]:
    # Adding 0 makes one zero of two. Round numbers have zeros in their lower half alone.
    bits = (np.ascontiguousarray(X, dtype=np.float64) + 0.0).view(np.uint64)
    factors = np.random.default_rng(0).integers(1, 2**64, X.shape[1], dtype=np.uint64)
    return np.asarray((bits ^ (bits >> _HALF)) @ (factors | np.uint64(1)))
