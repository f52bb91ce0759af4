"""Confidence intervals for gaps, which are maxima of contrasts between groups."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.metrics.intervals import Bounds


@dataclass(frozen=True)
class RateFamily:
    """One rate of every group, with its interval at any error.

    Attributes
    ----------
    values : ndarray of shape (K,)
        The measured rates; NaN where a group has no rows for it.
    bounds : callable
        From the error of one end to lower and upper ends, each of shape (K,).
    """

    values: Floats
    bounds: Bounds


def gap_interval(*families: RateFamily, confidence: float = 0.95) -> tuple[float, float]:
    r"""Return an interval for the sum, over families, of largest minus smallest rate.

    A gap is the maximum of linear contrasts of independent rates: over ordered
    pairs of groups :math:`p_k - p_l` for one family, over two such pairs for the
    sum of two gaps. The interval of each contrast combines the intervals of its
    rates by squares (Newcombe's method, here on exact intervals):

    .. math:: \hat\theta - \sqrt{\textstyle\sum_j (\hat p_j - \text{end}_j)^2}
              \le \theta \le
              \hat\theta + \sqrt{\textstyle\sum_j (\text{end}_j - \hat p_j)^2}.

    The upper end is the largest upper end of a contrast: it fails only if that
    of the true maximum does, so many groups cost nothing. The lower end is the
    largest lower end, and the error there is divided among the contrasts, so
    that groups with equal rates do not show a gap. A bootstrap of the gap
    itself would put the interval above 0 even when the groups are equal,
    because the largest of several noisy differences is always positive.

    Groups without rows for a rate are left out; [0, number of families] if
    fewer than two remain.

    References
    ----------
    Newcombe (1998), method 10; Zou and Donner (2008).
    """
    defined = [np.flatnonzero(~np.isnan(family.values)) for family in families]
    if min(len(groups) for groups in defined) < 2:
        return 0.0, float(len(families))
    pairs = [len(groups) * (len(groups) - 1) // 2 for groups in defined]
    contrasts = 2 ** (len(families) - 1) * int(np.prod(pairs))
    tail = (1.0 - confidence) / 2.0
    fronts_low, fronts_high = [], []
    for family, groups in zip(families, defined, strict=True):
        fronts_low.append(_contrasts(family, groups, error=tail / contrasts, side=-1.0))
        fronts_high.append(_contrasts(family, groups, error=tail, side=1.0))
    low = _best_end(fronts_low, side=-1.0)
    high = _best_end(fronts_high, side=1.0)
    return max(0.0, low), min(float(len(families)), high)


def largest_gap_interval(*families: RateFamily, confidence: float = 0.95) -> tuple[float, float]:
    """Return an interval for the largest, over families, of largest minus smallest rate.

    As :func:`gap_interval`; the error of the lower end is divided among the families.
    """
    tails = 1.0 - (1.0 - confidence) / len(families)
    lows = [gap_interval(family, confidence=tails)[0] for family in families]
    highs = [gap_interval(family, confidence=confidence)[1] for family in families]
    return max(lows), max(highs)


def _contrasts(
    family: RateFamily, groups: NDArray[np.intp], *, error: float, side: float
) -> tuple[Floats, Floats]:
    """Return the contrasts of all ordered pairs with their squared distance to one end."""
    low, high = family.bounds(error)
    rates = family.values[groups]
    below, above = (rates - low[groups]) ** 2, (high[groups] - rates) ** 2
    first, second = (above, below) if side > 0 else (below, above)
    ordered = ~np.eye(len(groups), dtype=bool)
    differences = (rates[:, None] - rates[None, :])[ordered]
    return _front(differences, (first[:, None] + second[None, :])[ordered], side=side)


def _front(values: Floats, squares: Floats, *, side: float) -> tuple[Floats, Floats]:
    """Keep the contrasts that no other beats in both value and distance."""
    order = np.lexsort((-side * squares, -values))
    values, squares = values[order], squares[order]
    best = np.maximum.accumulate(side * squares)
    keep = np.append(True, best[1:] > best[:-1])
    return values[keep], squares[keep]


def _best_end(fronts: list[tuple[Floats, Floats]], *, side: float) -> float:
    values, squares = fronts[0]
    for more_values, more_squares in fronts[1:]:
        values = np.add.outer(values, more_values).ravel()
        squares = np.add.outer(squares, more_squares).ravel()
    return float(np.max(values + side * np.sqrt(squares)))
