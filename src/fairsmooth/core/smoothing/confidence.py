r"""Intervals for sampled scores that hold for finite samples.

The scores averaged are independent, lie in [0, 1] and have the smooth score as
mean. The empirical Bernstein bound of Maurer and Pontil needs nothing else: with
sample variance ``V`` of ``n`` values, each one-sided statement

.. math:: |\bar p - p| \le \sqrt{2V\ln(2/\delta)/n} + 7\ln(2/\delta)/(3(n-1))

holds with probability at least :math:`1 - \delta`; the interval spends half of the
allowed probability on each side.
"""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass
class RunningScores:
    """Count, mean and squared deviations of the scores of every row, updated in batches."""

    n_rows: int
    count: int = 0
    mean: Tensor = field(init=False)
    squares: Tensor = field(init=False)

    def __post_init__(self) -> None:
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

    def keep(self, rows: Tensor) -> "RunningScores":
        """Return the state of the rows chosen by a mask."""
        kept = RunningScores(int(rows.sum()), self.count)
        kept.mean, kept.squares = self.mean[rows], self.squares[rows]
        return kept

    def interval(self, delta: float) -> Tensor:
        r"""Return bounds (n_rows, 2) that hold, for each row, with probability ``1 - delta``.

        References
        ----------
        A. Maurer and M. Pontil, Empirical Bernstein bounds and sample variance
        penalization, COLT 2009, Theorem 4. Replaces the paper's Eq. (20), which prints
        the variance for the standard deviation and 1/(2π) for 1/√(2π).
        """
        radius = bernstein_radius(self.squares, self.count, delta / 2.0)
        return torch.stack([self.mean - radius, self.mean + radius], -1).clamp(0.0, 1.0)


def bernstein_radius(squares: Tensor, count: int, delta: float) -> Tensor:
    """Return the one-sided radius for sums of squared deviations of ``count`` values.

    Examples
    --------
    >>> bernstein_radius(torch.tensor([0.0]), 1000, 0.005)
    tensor([0.0140])
    """
    if count < 2:
        return torch.ones_like(squares)
    log_term = math.log(2.0 / delta)
    spread = (2.0 * squares / (count - 1) * log_term / count).sqrt()
    return spread + 7.0 * log_term / (3.0 * (count - 1))


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
