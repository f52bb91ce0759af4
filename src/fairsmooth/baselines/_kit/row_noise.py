"""Normal noise that is a function of the row: random over rows, the same at every call."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

# Constants of the SplitMix64 finaliser (Steele, Lea and Flood 2014).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_MANTISSA_BITS = 52


def row_noise(X: NDArray[np.float64], n_columns: int, *, seed: int) -> NDArray[np.float64]:
    """Draw standard normal noise whose value is decided by the row's own content.

    A randomised classifier that draws fresh noise gives the same person a new
    answer at every call. Here the noise is a hash of the row and the seed:
    independent over distinct rows for every purpose of statistics, equal for
    equal rows, whatever their position or the other rows of the call.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows, in float64.
    n_columns : int
        Noise variables per row.
    seed : int
        Another seed gives another function.

    Returns
    -------
    ndarray of shape (n, n_columns)

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> bool((row_noise(X, 3, seed=0)[1] == row_noise(X[1:], 3, seed=0)[0]).all())
    True
    """
    state = np.full(len(X), np.uint64(seed & 0xFFFFFFFFFFFFFFFF))
    # Adding 0.0 turns -0.0 into 0.0: equal rows must have equal bits.
    for column in (X + 0.0).T:
        state = _mixed(state ^ np.ascontiguousarray(column).view(np.uint64))
    draws = [_mixed(state ^ _mixed(np.full(len(X), np.uint64(k)))) for k in range(n_columns)]
    return np.column_stack([_normal(draw) for draw in draws])


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = state + _STEP
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))


def _normal(bits: NDArray[np.uint64]) -> NDArray[np.float64]:
    high = (bits >> np.uint64(64 - _MANTISSA_BITS)).astype(np.float64)
    return np.asarray(ndtri((high + 0.5) * 2.0**-_MANTISSA_BITS), dtype=np.float64)
