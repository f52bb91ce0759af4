r"""Intervals for sampled scores that hold for finite samples.

The scores averaged are independent, lie in [0, 1] and have the smooth score as mean;
nothing else is assumed. A mean ``m`` is ruled out by betting against it (``betting.py``).
Where the scores are too many to keep, the empirical Bernstein bound of Maurer and Pontil
needs only their variance ``V``: each one-sided statement

.. math:: |\bar p - p| \le \sqrt{2V\ln(2/\delta)/n} + 7\ln(2/\delta)/(3(n-1))

holds with probability at least :math:`1 - \delta`; either interval spends half of the
allowed probability on each side.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from fairsmooth.core.deviations import bernstein_radius
from fairsmooth.core.smoothing.betting import betting_interval

# Scores kept, for all rows together: a quarter of a gigabyte.
_KEPT = 1 << 25


@dataclass
class RunningScores:
    """The scores of every row, taken in batches: count, mean, squared deviations, and all of them.

    Parameters
    ----------
    n_rows : int
    n_first : int, optional
        Rows that there were at first, if some have been dropped since: whether scores are
        kept must not depend on the scores.
    """

    n_rows: int
    n_first: int = 0
    count: int = 0
    mean: Tensor = field(init=False)
    squares: Tensor = field(init=False)
    values: list[Tensor] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.n_first = self.n_first or self.n_rows
        self.mean = torch.zeros(self.n_rows, dtype=torch.float64)
        self.squares = torch.zeros(self.n_rows, dtype=torch.float64)

    def add(self, scores: Tensor) -> None:
        """Take in scores of shape (k, n_rows), by the rule of Chan, Golub and LeVeque."""
        values = scores.detach().to("cpu", torch.float64)
        size = len(values)
        mean = values.mean(0)
        gap = mean - self.mean
        total = self.count + size
        self.squares += (values - mean).square().sum(0) + gap.square() * (self.count * size / total)
        self.mean = self.mean + gap * (size / total)
        self.count = total
        self.values = [*self.values, values] if self._all_kept else []

    def keep(self, rows: Tensor) -> "RunningScores":
        """Return the state of the rows chosen by a mask."""
        kept = RunningScores(int(rows.sum()), self.n_first, self.count)
        kept.mean, kept.squares = self.mean[rows], self.squares[rows]
        kept.values = [values[:, rows] for values in self.values]
        return kept

    def interval(self, delta: float) -> Tensor:
        r"""Return bounds (n_rows, 2) that hold, for each row, with probability ``1 - delta``.

        References
        ----------
        I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by
        betting, JRSS B 86 (2024), Section 4; A. Maurer and M. Pontil, Empirical Bernstein
        bounds and sample variance penalization, COLT 2009, Theorem 4. They replace the
        paper's Eq. (20), which prints the variance for the standard deviation and 1/(2π) for
        1/√(2π).
        """
        if self._all_kept and self.values:
            return betting_interval(torch.cat(self.values), delta)
        radius = bernstein_radius(self.squares, self.count, delta / 2.0)
        return torch.stack([self.mean - radius, self.mean + radius], -1).clamp(0.0, 1.0)

    @property
    def _all_kept(self) -> bool:
        return self.count * self.n_first <= _KEPT


def stage_delta(delta: float, stage: int) -> float:
    r"""Share of the error probability for look number ``stage`` (from 0) at growing samples.

    The shares :math:`\delta/((i+1)(i+2))` add up to ``delta``, so an interval chosen
    after any number of looks still holds.

    Examples
    --------
    >>> stage_delta(0.01, 0)
    0.005
    """
    return delta / ((stage + 1) * (stage + 2))
