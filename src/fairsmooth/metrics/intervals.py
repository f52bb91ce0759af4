"""Confidence intervals for rates: exact for decisions, finite-sample for scores."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, xlogy
from scipy.stats import t as student

from fairsmooth._types import Floats
from fairsmooth.core.deviations import bernstein_radius
from fairsmooth.metrics.samples import Samples

Bounds = Callable[[float], tuple[Floats, Floats]]

_BISECTIONS = 60


def binomial_interval(
    successes: ArrayLike, trials: ArrayLike, *, error: float = 0.025
) -> tuple[Floats, Floats]:
    """Return the exact (Clopper-Pearson) interval of a binomial probability.

    Each end fails with probability at most ``error``, whatever the probability
    and the number of trials, so the interval holds with probability at least
    ``1 - 2 error``. With no trials it is [0, 1].

    Examples
    --------
    >>> low, high = binomial_interval(0, 10)
    >>> float(low), round(float(high), 4)
    (0.0, 0.3085)
    """
    hits = np.asarray(successes, dtype=np.float64)
    n = np.asarray(trials, dtype=np.float64)
    # What scipy.stats.beta.ppf gives, without its checks: an audit asks thousands of times.
    low = betaincinv(np.maximum(hits, 0.5), n - hits + 1.0, error)
    high = betaincinv(hits + 1.0, np.maximum(n - hits, 0.5), 1.0 - error)
    return np.where(hits > 0, low, 0.0), np.where(hits < n, high, 1.0)


def bounded_mean_interval(values: ArrayLike, *, error: float = 0.025) -> tuple[float, float]:
    """Return the interval of :func:`bounded_mean_intervals` for one sample.

    Examples
    --------
    >>> low, high = bounded_mean_interval([0.2, 0.4] * 500)
    >>> 0.27 < low < 0.3 < high < 0.33
    True
    """
    low, high = bounded_mean_intervals([values], error=error)
    return float(low[0]), float(high[0])


def bounded_mean_intervals(
    samples: Samples | Sequence[ArrayLike], *, error: float = 0.025
) -> tuple[Floats, Floats]:
    r"""Return intervals for the means of samples, each of independent values in [0, 1].

    Each end fails with probability at most ``error`` for every distribution on
    [0, 1] and every number of values. It is the intersection of the Chernoff
    bound, :math:`n\,\mathrm{KL}(\bar v, p) \le \log(2/e)`, which is best for few
    values, and the empirical Bernstein bound,
    :math:`\sqrt{2 V \log(4/e)/n} + 7\log(4/e)/3(n-1)` with the sample variance
    :math:`V`, which is best for many; each spends half the error :math:`e`. Without values
    it is [0, 1].

    Returns
    -------
    low, high : ndarray of shape (number of samples,)

    References
    ----------
    Hoeffding (1963), Theorem 1; Maurer and Pontil (2009), Theorem 4.
    """
    return bounded_mean_bounds(samples)(error)


def u_statistic_interval(
    value: ArrayLike, n_pairs: ArrayLike, *, error: float = 0.025
) -> tuple[Floats, Floats]:
    r"""Return an interval for the mean of a kernel in [0, 1] over pairs of rows.

    ``value`` is the average over all pairs of a positive and a negative row, ``n_pairs`` the
    number of pairs without a row in common: the smaller of the two counts. The
    average over all pairs is an average of averages of that many independent pairs, so the
    Chernoff bound :math:`n\,\mathrm{KL}(v, p) \le \log(1/e)` holds for it; each end fails
    with probability at most ``error`` for every sample size.

    References
    ----------
    Hoeffding (1963), Section 5.

    Examples
    --------
    >>> low, high = u_statistic_interval(0.8, 200)
    >>> bool(0.7 < low < 0.8 < high < 0.9)
    True
    """
    mean = np.asarray(value, dtype=np.float64)
    return _chernoff_ends(mean, np.log(1.0 / error) / np.asarray(n_pairs))


def paired_mean_intervals(
    samples: Samples | Sequence[ArrayLike], *, error: float = 0.025
) -> tuple[Floats, Floats]:
    """Return Student's intervals for the means of samples of unbounded differences.

    Approximate: they assume enough rows for a mean to be nearly normal. With
    fewer than two rows it is the whole line.
    """
    found = Samples.of(samples)
    low, high = np.full(len(found.counts), -np.inf), np.full(len(found.counts), np.inf)
    many = found.counts > 1
    counts, means = found.counts[many], found.means[many]
    spreads = np.sqrt(found.squares[many] / (counts - 1))
    width = student.ppf(1.0 - error, counts - 1) * spreads / np.sqrt(counts)
    low[many], high[many] = means - width, means + width
    return low, high


def binomial_bounds(successes: ArrayLike, trials: ArrayLike) -> Bounds:
    """Return the exact interval of every group as a function of the error of one end.

    What was asked before is not computed again; nobody shall change it.
    """
    return cache(lambda error: binomial_interval(successes, trials, error=error))


def bounded_mean_bounds(samples: Samples | Sequence[ArrayLike]) -> Bounds:
    """Return the interval of every sample's mean as a function of the error of one end.

    The samples are looked at once, however many errors are asked for, and as above.
    """
    found = Samples.of(samples)
    counts = found.counts
    used = np.flatnonzero(counts)
    n, means, squares = counts[used], found.means[used], found.squares[used]
    many = n > 1

    @cache
    def at(error: float) -> tuple[Floats, Floats]:
        low, high = np.zeros(len(counts)), np.ones(len(counts))
        few_low, few_high = _chernoff_ends(means, np.log(2.0 / error) / n)
        width = np.full(len(n), np.inf)
        width[many] = bernstein_radius(squares[many], n[many], error / 2.0)
        low[used] = np.maximum(few_low, means - width)
        high[used] = np.minimum(few_high, means + width)
        return low, high

    return at


def _chernoff_ends(means: Floats, slack: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest p with KL(mean, p) <= slack, rounded outward."""
    low, other = _chernoff_low(np.stack([means, 1.0 - means]), slack)
    return low, 1.0 - other


def _chernoff_low(mean: Floats, slack: Floats) -> Floats:
    """Return the least p with KL(mean, p) <= slack, from below."""
    low, high = np.zeros(mean.shape), mean
    rest = np.maximum(1.0 - mean, 0.0)
    # No mean at all, or nothing but ones, divides 0 by 0, and what is no number is not outside.
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            # By xlogy and not by NumPy's logarithm, whose last digit depends on the processor.
            divergence = xlogy(mean, mean / middle) + xlogy(rest, rest / (1.0 - middle))
            outside = divergence > slack
            low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return low
