"""A mean over trials with an interval wide enough for trials that share rows."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from fairsmooth.experiments.claims.verdict import FAILS, HOLDS, SAME, UNKNOWN
from fairsmooth.experiments.settings import TEST_SIZE

CONFIDENCE = 0.95
# Trials are random splits of the same rows, so their training parts overlap. Nadeau
# and Bengio (2003) add the ratio of test to training rows to 1/n for that.
_OVERLAP = TEST_SIZE / (1.0 - TEST_SIZE)
# Rates that differ by less are not told apart: a hundredth, the digit that the paper prints.
MARGIN = 0.01
_RATES = ("accuracy", "demographic_parity", "equalized_odds_sum", "equalized_odds_max")


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its interval; infinite with a single trial.

    Attributes
    ----------
    value, half_width : float
    error : float
        Corrected standard error; 0 for printed numbers.
    trials : int
    rounding : float
        For printed numbers: how far the truth may be from what was printed.
    """

    value: float
    half_width: float
    error: float = math.nan
    trials: int = 0
    rounding: float = 0.0

    @property
    def low(self) -> float:
        """The lower end of the interval, with what rounding grants."""
        return self.value - self.half_width - self.rounding

    @property
    def high(self) -> float:
        """The upper end."""
        return self.value + self.half_width + self.rounding

    def compared(self, limit: float = 0.0, *, strictly: bool = False, margin: float = 0.0) -> str:
        """Tell whether the true value reaches the limit, or exceeds it strictly.

        With a margin, an interval within it around the limit is no difference; to reach the
        limit it is enough to be above it less the margin. Printed numbers contradict
        only what no number that rounds to them would fulfil.

        Examples
        --------
        >>> Estimate(0.3, 0.1).compared(0.1), Estimate(0.3, 0.1).compared(0.35)
        ('holds', 'cannot be told')
        >>> Estimate(0.002, 0.003).compared(strictly=True, margin=0.01)
        'no difference'
        """
        if not math.isfinite(self.value):
            return UNKNOWN
        if self.rounding > 0.0:
            # What rounds to a number is less than half a digit above it, not half a digit.
            return HOLDS if self.high > limit + 1e-9 else FAILS
        if strictly and self._within(limit, margin):
            return SAME
        if self.low >= limit - (0.0 if strictly else margin):
            return HOLDS
        return FAILS if self.high < limit else UNKNOWN

    def chance_of_reaching(self, limit: float = 0.0) -> float:
        """Return the one-sided p-value of "the truth is at least the limit"."""
        if self.trials < 2 or not math.isfinite(self.value):
            return 1.0
        if self.error == 0.0:
            return float(self.value >= limit)
        return float(stdtr(self.trials - 1, (self.value - limit) / self.error))

    def _within(self, limit: float, margin: float) -> bool:
        return limit - margin <= self.low and self.high <= limit + margin


def margin_of(metric: str) -> float:
    """Return how large a difference of a measure must be to count: 0 where it is no rate."""
    return MARGIN if metric in _RATES else 0.0


def estimate(values: Iterable[float], *, rounding: float | None = None) -> Estimate:
    r"""Return the mean over trials and a corrected 95 % interval.

    The half-width is :math:`t_{n-1} s \sqrt{1/n + n_{test}/n_{train}}` (Nadeau and
    Bengio): the naive :math:`s/\sqrt n` is too short because the trials share rows.

    Parameters
    ----------
    values : iterable of float
        One value per trial; missing ones are left out.
    rounding : float, optional
        Printed numbers carry no interval; this is how far rounding may have moved them.
    """
    known = np.asarray([value for value in values if math.isfinite(value)], dtype=np.float64)
    if not len(known):
        return Estimate(math.nan, math.inf)
    if rounding is not None:
        return Estimate(float(known.mean()), 0.0, 0.0, len(known), rounding)
    if len(known) == 1:
        return Estimate(float(known[0]), math.inf, trials=1)
    error = math.sqrt(1.0 / len(known) + _OVERLAP) * float(known.std(ddof=1))
    quantile = float(stdtrit(len(known) - 1, 0.5 + CONFIDENCE / 2.0))
    return Estimate(float(known.mean()), quantile * error, error, len(known))


def some_below(estimates: Sequence[Estimate], margin: float = 0.0) -> bool:
    """Tell whether some true value is below 0 by more than the margin may hide.

    One error for all of them: Holm's procedure (1979) rejects something if and only if the
    smallest of n p-values is at most the error over n.

    Examples
    --------
    >>> some_below([Estimate(-0.05, 0.02, 0.008, 10), Estimate(0.01, 0.02, 0.008, 10)])
    True
    """
    error = (1.0 - CONFIDENCE) / 2.0 / max(1, len(estimates))
    return any(each.chance_of_reaching() <= error and each.low < -margin for each in estimates)


def standard_error(values: Iterable[float]) -> float:
    r"""Return :math:`s/\sqrt n` of the known values; NaN if there are fewer than two."""
    known = np.asarray([value for value in values if math.isfinite(value)], dtype=np.float64)
    if len(known) < 2:
        return math.nan
    return float(known.std(ddof=1) / math.sqrt(len(known)))
