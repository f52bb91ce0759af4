r"""Bounds on contrasts that hold at every time at once, while the rates stay what they are.

With a Beta(½, ½) prior, :math:`M_c(q) = \int L_c\,d\text{Beta} / L_c(q)` is a martingale at the
true rate ``q`` of a cell with likelihood :math:`L_c`, and so is the product over two cells. By
Ville's inequality it ever reaches :math:`1/\delta` with probability at most :math:`\delta`: the
rates whose product is below :math:`1/\delta` contain the true ones at all times at once. What they
say of a contrast follows from the largest likelihood on its side of a value, which is concave along
the line where the contrast has that value.
"""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, xlog1py, xlogy

from fairsmooth._types import Floats

_BISECTIONS = 60
# Values are found on a grid, and again on a finer one between two of its points.
_GRID, _GRIDS = 33, 5


def log_evidence(counts: Floats, *, ratio: bool, limit: Floats | float, above: bool) -> Floats:
    r"""Return at most the logarithm of the evidence against a contrast within a limit.

    The evidence is :math:`\inf M_1(q_1) M_2(q_2)` over the rates within the limit: its expected
    value never exceeds 1 while the true rates are within it (an e-process).

    Parameters
    ----------
    counts : ndarray of shape (4, ...)
        Positive decisions and rows of the first cell, then of the second.
    ratio : bool
        Whether the contrast is ``q_2 / q_1`` rather than ``q_1 - q_2``.
    limit : float or ndarray
        The value at the edge; broadcast against the counts.
    above : bool
        Whether "within" means contrasts of at least ``limit`` rather than at most.
    """
    x1, n1, x2, n2 = counts
    mixture = _log_mixture(x1, n1) + _log_mixture(x2, n2)
    free = _log_likelihood(x1, n1, _share(x1, n1)) + _log_likelihood(x2, n2, _share(x2, n2))
    edge = _largest_on_edge(counts, ratio=ratio, limit=limit)
    best: Floats = np.where(_within(counts, ratio=ratio, limit=limit, above=above), free, edge)
    # Logarithms of this size are rounded; the evidence is rounded down.
    return mixture - best - 1e-9 - 1e-13 * (n1 + n2)


def _within(
    counts: Floats, *, ratio: bool, limit: Floats | float, above: bool
) -> NDArray[np.bool_]:
    x1, n1, x2, n2 = counts
    first, second = _share(x1, n1), _share(x2, n2)
    # Written without a division: 0/0 counts as 1. An empty cell fits everything.
    worse = second - limit * first if ratio else first - second - limit
    fits: NDArray[np.bool_] = (worse >= 0.0) if above else (worse <= 0.0)
    return fits | (n1 == 0) | (n2 == 0)


def _largest_on_edge(counts: Floats, *, ratio: bool, limit: Floats | float) -> Floats:
    """Return the largest log-likelihood along ``q_1 = q_2 + limit``, or ``q_2 = limit q_1``."""
    x1, n1, x2, n2 = counts
    value = np.asarray(limit, dtype=np.float64)
    slope, shift = (value, np.zeros_like(value)) if ratio else (np.ones_like(value), -value)
    shape = np.broadcast_shapes(x1.shape, value.shape)
    low = np.broadcast_to(np.maximum(0.0, -shift), shape)
    high = np.broadcast_to(np.minimum(1.0, 1.0 - shift) if not ratio else 1.0, shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_BISECTIONS):
            first = 0.5 * (low + high)
            second = slope * first + shift
            rising = _slope(x1, n1, first) + slope * _slope(x2, n2, second) > 0.0
            low, high = np.where(rising, first, low), np.where(rising, high, first)
    ends = [
        _log_likelihood(x1, n1, q) + _log_likelihood(x2, n2, np.clip(slope * q + shift, 0.0, 1.0))
        for q in (low, high)
    ]
    return np.maximum(*ends)


def _slope(x: Floats, n: Floats, q: Floats) -> Floats:
    up = np.where(x > 0, x / q, 0.0)
    down = np.where(n > x, (n - x) / (1.0 - q), 0.0)
    return up - down


def _share(x: Floats, n: Floats) -> Floats:
    return np.divide(x, n, out=np.full(np.shape(x), 0.5), where=np.asarray(n) > 0)


def _log_likelihood(x: Floats, n: Floats, q: Floats) -> Floats:
    return xlogy(x, q) + xlog1py(n - x, -q)


def _log_mixture(x: Floats, n: Floats) -> Floats:
    return betaln(x + 0.5, n - x + 0.5) - betaln(0.5, 0.5)


def anytime_bound(counts: Sequence[tuple[int, int]], *, ratio: bool, error: float) -> float:
    """Bound the worst contrast of any two cells at all times at once, rounded outward.

    The worst pair is fixed, so the number of cells costs nothing.
    """
    return _extreme(counts, ratio=ratio, error=error, against_worse=True)


def anytime_alarm(counts: Sequence[tuple[int, int]], *, ratio: bool, error: float) -> float:
    """Bound the worst contrast from its good side, at all times at once.

    At least this gap, or at most this ratio, is there; the error is divided over the pairs.
    """
    pairs = max(1, len(counts) * (len(counts) - 1))
    return _extreme(counts, ratio=ratio, error=error / pairs, against_worse=False)


def _extreme(
    counts: Sequence[tuple[int, int]], *, ratio: bool, error: float, against_worse: bool
) -> float:
    """Find the value that every pair (or some pair, on the good side) has evidence against."""
    pairs = np.array([[*a, *b] for a, b in permutations(counts, 2)], dtype=np.float64).T
    threshold = -np.log(error)
    # Contrasts grow worse upward for gaps, downward for ratios.
    excluded_above = against_worse != ratio

    def decided(values: Floats) -> NDArray[np.bool_]:
        evidence = log_evidence(
            pairs[:, None, :], ratio=ratio, limit=values[:, None], above=excluded_above
        )
        found = evidence >= threshold
        return found.all(axis=1) if against_worse else found.any(axis=1)

    # ``sure`` is decided or trivial, ``unsure`` is not decided; so is everything beyond each.
    sure = 1.0 if excluded_above else 0.0
    unsure = 1.0 - sure
    for _ in range(_GRIDS):
        values = np.linspace(sure, unsure, _GRID)
        last = int(np.argmin(np.append(decided(values[1:-1]), False)))
        sure, unsure = float(values[last]), float(values[last + 1])
    return sure
