"""Certified intervals of many rows and all groups at once.

The numbers are those of :meth:`fairsmooth.core.certificate.Certificate.interval`, to the last
digit. One end of each score is asked for, and its quantile is the same for every group.
"""

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats, Labels
from fairsmooth.core.certificate import Certificate

# Entries worked on at once: few enough to stay in a processor's cache.
_ENTRIES = 2**16


def intervals_by_group(certificate: Certificate, low: Floats, high: Floats) -> Floats:
    """Bound every group's own score wherever the overall score is between two numbers.

    Parameters
    ----------
    certificate : Certificate
    low, high : ndarray of shape (n,)
        In [0, 1].

    Returns
    -------
    ndarray of shape (n, K, 2)
        Kept by group: all rows of one end of one group are neighbours in memory.
    """
    shifts, bounds, same = _of_groups(certificate)
    ends = np.empty((len(shifts), 2, len(low)))
    below, above = _quantiles(low), _quantiles(high)
    size = max(1, _ENTRIES // max(1, len(low)))
    for start in range(0, len(shifts), size):
        some = slice(start, start + size)
        shift, bound = shifts[some, None], bounds[some, None]
        ends[some, 0] = _lower(low, below, shift, bound)
        ends[some, 1] = _upper(high, above, shift, bound)
    ends[same, 0], ends[same, 1] = low, high
    return np.moveaxis(ends, 2, 0)


def own_intervals(certificate: Certificate, low: Floats, high: Floats, codes: Labels) -> Floats:
    """Return, of :func:`intervals_by_group`, that of each row's own group, (n, 2)."""
    shifts, bounds, same = _of_groups(certificate)
    shift, bound, same = shifts[codes], bounds[codes], same[codes]
    lower = np.where(same, low, _lower(low, _quantiles(low), shift, bound))
    upper = np.where(same, high, _upper(high, _quantiles(high), shift, bound))
    return np.stack([lower, upper], axis=1)


def _of_groups(certificate: Certificate) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return every group's shift and tight bound, and whether its parameters are the overall ones.

    Those have the overall score, without a margin.
    """
    groups = certificate.groups
    shifts = np.array([certificate.shift(group) for group in groups])
    bounds = np.array([certificate.epsilon_by_group[group] for group in groups])
    return shifts, bounds, np.array([certificate.distances[group] == 0.0 for group in groups])


def _quantiles(scores: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(scores))


def _lower(scores: Floats, quantile: Floats, shift: Floats, bound: Floats) -> Floats:
    """Return the lower end, rounded down; margins as in ``outward.shifted_normal``."""
    from scipy.special import ndtr

    with np.errstate(invalid="ignore"):  # at 0 and 1 the quantile is infinite
        margin = 4e-15 * (1.0 + np.abs(quantile) + shift)
        end = ndtr(quantile - shift - margin) * (1.0 - 1e-11)
    end = np.where((scores <= 0.0) | (scores >= 1.0), scores, end)
    end = np.maximum(end, np.nextafter(scores - bound, -np.inf))
    return np.where(np.isfinite(shift), np.clip(end, 0.0, 1.0), 0.0)


def _upper(scores: Floats, quantile: Floats, shift: Floats, bound: Floats) -> Floats:
    """Return the upper end, rounded up."""
    from scipy.special import ndtr

    with np.errstate(invalid="ignore"):
        margin = 4e-15 * (1.0 + np.abs(quantile) + shift)
        end = -ndtr(-(quantile + shift + margin)) * (1.0 - 1e-11) + 1.0
    end = np.where((scores <= 0.0) | (scores >= 1.0), scores, end)
    end = np.minimum(1.0, np.nextafter(end, np.inf))
    end = np.minimum(end, np.nextafter(scores + bound, np.inf))
    return np.where(np.isfinite(shift), np.clip(end, 0.0, 1.0), 1.0)
