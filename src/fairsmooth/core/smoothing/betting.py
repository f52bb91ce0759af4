r"""Bounds on a mean by betting against every other value.

If independent :math:`X_t \in [0, 1]` have mean ``m``, then
:math:`K_t(m) = \prod_{i \le t} (1 + \lambda_i (X_i - m))` with :math:`\lambda_i \ge 0` chosen
before :math:`X_i` is seen, and at most :math:`1/m`, is a fair game that starts with 1: by Ville's
inequality it ever reaches :math:`2/\delta` with probability at most :math:`\delta/2`. So the
``m`` at which it does are ruled out from below; those from above by the same game for
:math:`1 - X_t`. Bets follow the variance seen so far, whence the interval is about
:math:`\sqrt{2V\ln(2/\delta)/n}` on each side.
"""

import math

import torch
from torch import Tensor

# No bet risks more than this share of the capital. Where scores hardly vary, intervals are as wide
# as this allows; where a rare one is far from the others, bold bets cost (benchmarks/intervals.py).
_STAKE = 0.9
# The variance before anything is seen, that of a coin, and how many scores it weighs.
_PRIOR, _PRIOR_WEIGHT = 0.25, 0.25
# Factors multiplied before their logarithm is taken: 10^-32 and 14^32 are far from the limits.
_BLOCK = 32
# Scores worked on at once: they fit a cache.
_TILE = 1 << 16
_HALVINGS = 8


def betting_interval(values: Tensor, delta: float) -> Tensor:
    """Return bounds (rows, 2) on the means of independent ``values`` (n, rows) in [0, 1].

    Each row's holds with probability at least ``1 - delta``. Rows may depend on each other.

    References
    ----------
    I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting,
    JRSS B 86 (2024): the hedged capital of Theorem 3 with predictable plug-in bets.

    Examples
    --------
    >>> coins = torch.arange(200, dtype=torch.float64).remainder(2).unsqueeze(1)
    >>> betting_interval(coins, 0.1)
    tensor([[0.4..., 0.5...]], dtype=torch.float64)
    """
    size = max(1, _TILE // max(len(values), 1))
    pieces = [_bounds(part, delta) for part in values.split(size, 1)]
    return torch.cat(pieces)


def _bounds(values: Tensor, delta: float) -> Tensor:
    bets = _bets(values, delta)
    needed = math.log(2.0 / delta)
    low = _lower(values, bets, needed)
    high = 1.0 - _lower(1.0 - values, bets, needed)
    return torch.stack([low, high], -1)


def _bets(values: Tensor, delta: float) -> Tensor:
    r"""Return :math:`\sqrt{2\ln(2/\delta)/(n\hat V_{t-1})}`, of the scores before each alone."""
    n = len(values)
    weight = torch.arange(1, n + 1, dtype=values.dtype).unsqueeze(1) + _PRIOR_WEIGHT
    mean = (0.5 * _PRIOR_WEIGHT + values.cumsum(0)) / weight
    variance = (_PRIOR * _PRIOR_WEIGHT + (values - mean).square().cumsum(0)) / weight
    before = torch.cat([torch.full_like(variance[:1], _PRIOR), variance[:-1]])
    return (2.0 * math.log(2.0 / delta) / (n * before)).sqrt()


def _lower(values: Tensor, bets: Tensor, needed: float) -> Tensor:
    """Return the largest mean known to be ruled out from below, or 0; capital falls in it."""
    high = values.mean(0)
    radius = 1.5 * (2.0 * needed * (values.var(0, correction=0) + 1.0 / len(values))).sqrt()
    radius = radius / math.sqrt(len(values))
    low = (high - radius).clamp_min(0.0)
    while True:
        short = (low > 0) & (_log_capital(values, bets, low) < needed)
        if not bool(short.any()):
            break
        radius = torch.where(short, 2.0 * radius, radius)
        low = torch.where(short, (values.mean(0) - radius).clamp_min(0.0), low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        out = _log_capital(values, bets, middle) >= needed
        low, high = torch.where(out, middle, low), torch.where(out, high, middle)
    return low


def _log_capital(values: Tensor, bets: Tensor, mean: Tensor) -> Tensor:
    """Return the logarithm of the largest capital ever reached, looking every few scores."""
    factors = 1.0 + torch.minimum(bets, _STAKE / mean.clamp_min(1e-300)) * (values - mean)
    blocks = [part.prod(0) for part in factors.split(_BLOCK)]
    return torch.stack(blocks).log().cumsum(0).amax(0)
