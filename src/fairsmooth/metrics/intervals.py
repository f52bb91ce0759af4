"""Confidence intervals for rates: exact for decisions, finite-sample for scores."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv
from scipy.stats import t as student

from fairsmooth._types import Floats
from fairsmooth.core.deviations import bernstein_radius

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
    r"""Return an interval for the mean of independent values in [0, 1].

    Each end fails with probability at most ``error`` for every distribution on
    [0, 1] and every number of values. It is the intersection of the Chernoff
    bound, :math:`n\,\mathrm{KL}(\bar v, p) \le \log(2/e)`, which is best for few
    values, and the empirical Bernstein bound,
    :math:`\sqrt{2 V \log(4/e)/n} + 7\log(4/e)/3(n-1)` with the sample variance
    :math:`V`, which is best for many; each spends half the error :math:`e`.

    References
    ----------
    Hoeffding (1963), Theorem 1; Maurer and Pontil (2009), Theorem 4.

    Examples
    --------
    >>> low, high = bounded_mean_interval([0.2, 0.4] * 500)
    >>> 0.27 < low < 0.3 < high < 0.33
    True
    """
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        return 0.0, 1.0
    mean, n = float(sample.mean()), len(sample)
    slack = np.log(2.0 / error) / n
    low, high = _chernoff_low(mean, slack), 1.0 - _chernoff_low(1.0 - mean, slack)
    if n > 1:
        width = float(bernstein_radius(((sample - mean) ** 2).sum(), n, error / 2.0))
        low, high = max(low, mean - width), min(high, mean + width)
    return float(low), float(high)


def u_statistic_interval(
    value: float, n_pairs: int, *, error: float = 0.025
) -> tuple[float, float]:
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
    >>> 0.7 < low < 0.8 < high < 0.9
    True
    """
    slack = np.log(1.0 / error) / n_pairs
    return float(_chernoff_low(value, slack)), float(1.0 - _chernoff_low(1.0 - value, slack))


def paired_mean_interval(values: ArrayLike, *, error: float = 0.025) -> tuple[float, float]:
    """Return Student's interval for the mean of unbounded differences.

    Approximate: it assumes enough rows for the mean to be nearly normal. With
    fewer than two rows it is the whole line.
    """
    sample = np.asarray(values, dtype=np.float64)
    if len(sample) < 2:
        return -np.inf, np.inf
    width = student.ppf(1.0 - error, len(sample) - 1) * sample.std(ddof=1) / np.sqrt(len(sample))
    return float(sample.mean() - width), float(sample.mean() + width)


def binomial_bounds(successes: ArrayLike, trials: ArrayLike) -> Bounds:
    """Return the exact interval of every group as a function of the error of one end."""
    return lambda error: binomial_interval(successes, trials, error=error)


def bounded_mean_bounds(samples: list[Floats]) -> Bounds:
    """Return the interval of every group's mean as a function of the error of one end."""

    def at(error: float) -> tuple[Floats, Floats]:
        ends = np.array([bounded_mean_interval(sample, error=error) for sample in samples])
        return ends[:, 0], ends[:, 1]

    return at


def _chernoff_low(mean: float, slack: float) -> float:
    """Return the least p with KL(mean, p) <= slack, from below."""
    mean, slack = float(mean), float(slack)
    low, high = 0.0, mean
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if _divergence(mean, middle) > slack:
            low = middle
        else:
            high = middle
    return low


def _divergence(mean: float, p: float) -> float:
    if p <= 0.0 < mean:
        return math.inf
    first = mean * math.log(mean / p) if mean > 0 else 0.0
    second = (1.0 - mean) * math.log((1.0 - mean) / (1.0 - p)) if mean < 1 else 0.0
    return first + second
