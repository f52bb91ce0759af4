"""A mean over trials with an interval wide enough for trials that share rows."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from fairsmooth.experiments.claims.verdict import FAILS, HOLDS, UNKNOWN

CONFIDENCE = 0.95
# Trials are random splits of the same rows, so their training parts overlap. Nadeau
# and Bengio (2003) add the ratio of test to training rows to 1/n for that.
TEST_SIZE = 0.3
_OVERLAP = TEST_SIZE / (1.0 - TEST_SIZE)


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its interval; infinite with a single trial."""

    value: float
    half_width: float

    def compared(self, limit: float = 0.0, *, strictly: bool = False) -> str:
        """Tell whether the true value reaches the limit, or exceeds it strictly.

        Examples
        --------
        >>> Estimate(0.3, 0.1).compared(0.1), Estimate(0.3, 0.1).compared(0.35)
        ('holds', 'cannot be told')
        """
        if not math.isfinite(self.value):
            return UNKNOWN
        if strictly and self.half_width == 0.0 and self.value == limit:
            return FAILS
        if self.value - self.half_width >= limit:
            return HOLDS
        return FAILS if self.value + self.half_width < limit else UNKNOWN


def estimate(values: Iterable[float], *, exact: bool = False) -> Estimate:
    r"""Return the mean over trials and a corrected 95 % interval.

    The half-width is :math:`t_{n-1} s \sqrt{1/n + n_{test}/n_{train}}` (Nadeau and
    Bengio): the naive :math:`s/\sqrt n` is too short because the trials share rows.

    Parameters
    ----------
    values : iterable of float
        One value per trial; missing ones are left out.
    exact : bool
        Printed numbers carry no interval.
    """
    known = np.asarray([value for value in values if math.isfinite(value)], dtype=np.float64)
    if not len(known):
        return Estimate(math.nan, math.inf)
    if exact:
        return Estimate(float(known.mean()), 0.0)
    if len(known) == 1:
        return Estimate(float(known[0]), math.inf)
    scale = math.sqrt(1.0 / len(known) + _OVERLAP)
    quantile = float(stdtrit(len(known) - 1, 0.5 + CONFIDENCE / 2.0))
    return Estimate(float(known.mean()), quantile * scale * float(known.std(ddof=1)))


def standard_error(values: Iterable[float]) -> float:
    r"""Return :math:`s/\sqrt n` of the known values; NaN if there are fewer than two."""
    known = np.asarray([value for value in values if math.isfinite(value)], dtype=np.float64)
    if len(known) < 2:
        return math.nan
    return float(known.std(ddof=1) / math.sqrt(len(known)))
