"""Confidence intervals for gaps, which are maxima of contrasts between groups."""

from collections.abc import Sequence
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
        From the error of one end to lower and upper ends, each of shape (K,) or longer; what
        is behind the groups takes no part.
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
    return _low_end(families, confidence=confidence), _high_end(families, confidence=confidence)


def largest_gap_interval(*families: RateFamily, confidence: float = 0.95) -> tuple[float, float]:
    """Return an interval for the largest, over families, of largest minus smallest rate.

    As :func:`gap_interval`; the error of the lower end is divided among the families.
    """
    tails = 1.0 - (1.0 - confidence) / len(families)
    lows = [_low_end([family], confidence=tails) for family in families]
    highs = [_high_end([family], confidence=confidence) for family in families]
    return max(lows), max(highs)


def _low_end(families: Sequence[RateFamily], *, confidence: float) -> float:
    tail, defined = (1.0 - confidence) / 2.0, [_defined(family) for family in families]
    pairs = [len(groups) * (len(groups) - 1) // 2 for groups in defined]
    n_contrasts = 2 ** (len(families) - 1) * int(np.prod(pairs))
    if not n_contrasts:
        return 0.0
    contrasts = [
        _contrasts(family, groups, error=tail / n_contrasts, side=-1.0)
        for family, groups in zip(families, defined, strict=True)
    ]
    return max(0.0, _best_end(contrasts, side=-1.0))


def _high_end(families: Sequence[RateFamily], *, confidence: float) -> float:
    tail, defined = (1.0 - confidence) / 2.0, [_defined(family) for family in families]
    largest = float(len(families))
    if min(len(groups) for groups in defined) < 2:
        return largest
    contrasts = [
        _contrasts(family, groups, error=tail, side=1.0)
        for family, groups in zip(families, defined, strict=True)
    ]
    return min(largest, _best_end(contrasts, side=1.0))


def _defined(family: RateFamily) -> NDArray[np.intp]:
    return np.flatnonzero(~np.isnan(family.values))


def _contrasts(
    family: RateFamily, groups: NDArray[np.intp], *, error: float, side: float
) -> tuple[Floats, Floats]:
    """Return contrasts of ordered pairs with their squared distance to one end.

    Among them is the one with the best end, whatever other family is added: of many groups
    few can be in it.
    """
    low, high = family.bounds(error)
    rates = family.values[groups]
    below, above = (rates - low[groups]) ** 2, (high[groups] - rates) ** 2
    first, second = (above, below) if side > 0 else (below, above)
    higher, lower = _leading(rates, side * first), _leading(-rates, side * second)
    ordered = higher[:, None] != lower
    differences = (rates[higher, None] - rates[lower])[ordered]
    squares = (first[higher, None] + second[lower])[ordered]
    return _undominated(differences, squares, side=side)


def _leading(values: Floats, others: Floats) -> NDArray[np.intp]:
    """Return who is beaten in both numbers, or equalled, by at most one other.

    One may be the partner in a pair; a second could take one's place in every pair.
    """
    order = np.lexsort((-others, -values))
    best = second = -np.inf
    kept = []
    for place, other in zip(order.tolist(), others[order].tolist(), strict=True):
        if other > second:
            kept.append(place)
            best, second = (other, best) if other >= best else (best, other)
    return np.array(kept, dtype=np.intp)


def _undominated(values: Floats, squares: Floats, *, side: float) -> tuple[Floats, Floats]:
    """Keep the contrasts that no other beats in both value and distance."""
    order = np.lexsort((-side * squares, -values))
    values, squares = values[order], squares[order]
    best = np.maximum.accumulate(side * squares)
    keep = np.append(True, best[1:] > best[:-1])
    return values[keep], squares[keep]


def _best_end(contrasts: list[tuple[Floats, Floats]], *, side: float) -> float:
    values, squares = contrasts[0]
    for more_values, more_squares in contrasts[1:]:
        values = np.add.outer(values, more_values).ravel()
        squares = np.add.outer(squares, more_squares).ravel()
    return float(np.max(values + side * np.sqrt(squares)))
