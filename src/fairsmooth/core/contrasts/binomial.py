"""The samples of one cell that matter: their probabilities and interval ends, rounded outward."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betainccinv, betaincinv, gammaln

from fairsmooth._types import Floats

# Probability left out at each side of the window; it is added back as a whole.
LEFT_OUT = 1e-10
_LOG_LEFT_OUT = -math.log(LEFT_OUT)
# Measured against ball arithmetic, scipy's quantiles are at most 4e-11 off (relative) for up to
# 10^7 trials.
_QUANTILE = 1e-9
_UNIT = 2.0**-53


def upper_end(successes: Floats, trials: float, *, error: float) -> Floats:
    """Return the Clopper-Pearson upper end: below the rate with probability at most ``error``."""
    rest = trials - successes
    end = betainccinv(successes + 1.0, np.maximum(rest, 0.5), error)
    return np.where(rest > 0, end, 1.0)


def lower_end(successes: Floats, trials: float, *, error: float) -> Floats:
    """Return the Clopper-Pearson lower end: above the rate with probability at most ``error``."""
    end = betaincinv(np.maximum(successes, 0.5), trials - successes + 1.0, error)
    return np.where(successes > 0, end, 0.0)


def interval(successes: int, trials: int, *, error: float) -> tuple[float, float]:
    """Return both ends, each failing with probability at most ``error``, rounded outward."""
    if trials == 0:
        return 0.0, 1.0
    hits = np.asarray(successes, dtype=np.float64)
    low = float(lower_end(hits, trials, error=error)) * (1.0 - _QUANTILE)
    high = float(upper_end(hits, trials, error=error)) * (1.0 + _QUANTILE)
    return low, min(1.0, high)


@dataclass(frozen=True)
class CellSample:
    """``successes`` positive decisions among ``trials`` rows of one cell, at one error.

    Attributes
    ----------
    successes, trials : int
        What was observed.
    error : float
        Error of one end of the intervals that order samples.
    box_error : float
        Error of one end of the interval that the rate is searched in.
    """

    successes: int
    trials: int
    error: float
    box_error: float

    @cached_property
    def box(self) -> tuple[float, float]:
        """The interval that the rate is searched in."""
        return interval(self.successes, self.trials, error=self.box_error)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The interval that orders this sample, at the error of the others, rounded outward."""
        return interval(self.successes, self.trials, error=self.error)

    @cached_property
    def window(self) -> Floats:
        """The counts that matter: for every rate in the box, the others have less than LEFT_OUT.

        By Bernstein's inequality a binomial count is further than ``t`` above its mean with
        probability at most exp(-t²/(2v + 2t/3)), where ``v`` is its variance; likewise below.
        """
        first, last = self._reach(*self.box)
        return np.arange(first, last + 1, dtype=np.float64)

    def _reach(self, low: float, high: float) -> tuple[int, int]:
        n = float(self.trials)
        below = math.floor(n * low - _bernstein(n * low * (1.0 - low)))
        above = math.ceil(n * high + _bernstein(n * high * (1.0 - high)))
        return max(0, below), min(self.trials, above)

    def columns(self, rates: Floats) -> slice:
        """Return the part of the window that matters for some rates of the box."""
        first, last = self._reach(float(rates.min()), float(rates.max()))
        start = int(self.window[0])
        return slice(max(0, first - start), max(0, last - start) + 1)

    @cached_property
    def log_choose(self) -> Floats:
        """At least the logarithms of the binomial coefficients of the window.

        The logarithm of a probability is a sum of terms of at most 4 n log n + 40 n + 800 in
        all, unless the probability is below 1e-300, each rounded a few times: what is
        added here covers that.
        """
        x, n = self.window, float(self.trials)
        inflation = 16.0 * _UNIT * (3.0 * (n + 2.0) * math.log(n + 2.0) + 40.0 * n + 2000.0)
        return gammaln(n + 1.0) - gammaln(x + 1.0) - gammaln(n - x + 1.0) + inflation

    @cached_property
    def upper(self) -> Floats:
        """At most the upper ends over the window; never decreasing."""
        ends = upper_end(self.window, float(self.trials), error=self.error)
        return np.maximum.accumulate(ends * (1.0 - _QUANTILE))

    @cached_property
    def lower(self) -> Floats:
        """At least the lower ends over the window; never decreasing."""
        ends = lower_end(self.window, float(self.trials), error=self.error)
        return np.maximum.accumulate(np.minimum(1.0, ends * (1.0 + _QUANTILE)))

    def probabilities(self, rates: Floats, columns: slice = slice(None)) -> Floats:
        """Return at least the probability of every count of the window, one row per rate."""
        # Finite logarithms at rates 0 and 1, where 0 log 0 must be 0, only add probability.
        accepted = np.log(np.maximum(rates, 1e-300))
        refused = np.log1p(-np.minimum(rates, 1.0 - _UNIT))
        logs = np.multiply.outer(accepted - refused, self.window[columns])
        logs += self.log_choose[columns]
        logs += (refused * self.trials)[:, None]
        return np.exp(logs, out=logs)

    def tails(self, rates: Floats) -> Floats:
        """Return at least P(X >= x) for every x of the window and one x beyond it.

        The first column is 1: it also stands for every x below the window.
        """
        masses = self.probabilities(rates)
        tails = np.empty((len(rates), masses.shape[1] + 1))
        tails[:, -1] = 0.0 if self.window[-1] == self.trials else LEFT_OUT
        tails[:, :-1] = np.cumsum(masses[:, ::-1], axis=1)[:, ::-1] + tails[:, -1:]
        tails[:, 0] = 1.0
        return np.minimum(tails, 1.0, out=tails)


def _bernstein(variance: float) -> float:
    """Return t with t² = log(1/LEFT_OUT) (2 variance + 2t/3)."""
    third = _LOG_LEFT_OUT / 3.0
    return third + math.sqrt(third**2 + 2.0 * _LOG_LEFT_OUT * variance)
