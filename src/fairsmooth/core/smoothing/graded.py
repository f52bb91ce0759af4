r"""Inversion when scales are far apart: few units, enormous inputs or weights.

Then the logit is a mixture of narrow and very wide laws (a ReLU unit is 0 half of
the time) and equal steps would need as many nodes as the ratio of the scales. On
intervals that double in length the integrand is smooth, so that Gauss-Legendre on
each of them needs nodes in proportion to the logarithm of that ratio. A large output bias and
units that are surely on turn the integrand; intervals are then so short that both rules follow.
"""

import math
from functools import cache

import numpy as np
import torch
from torch import Tensor

from fairsmooth.core.smoothing.inversion import integrand, rest_bound
from fairsmooth.core.smoothing.relu import ReluUnits
from fairsmooth.core.smoothing.smooth_units import SmoothUnits

# Where the integration ends, unless the output bias' own noise ends it before: what lies
# beyond is bounded like that of the midpoint rule.
_END = {"logistic": 5.6, "probit": 6.0, "step": math.inf}
_ORDER = 40
_CHECK_ORDER = 28
# Radians by which the integrand may turn within one interval.
_TURN = 16.0
# Intervals of one row. Two rules that follow no turn may agree by chance, so that rows that would
# need more end early, and all that lies beyond is unknown.
_MOST = 640
# Standard deviations from which on a unit is surely on, and the exponent from which on its wave
# is gone.
_SURELY, _GONE = 7.0, 25.0
# Elements (unit, node, row) worked on at once.
_ELEMENTS = 1 << 16


def graded_integral(
    units: ReluUnits, bias: Tensor, step: Tensor, link: str
) -> tuple[Tensor, Tensor]:
    """Return the integral for every row, and its error.

    The error is a *measured* one, twice the distance to the integral by fewer nodes, and a
    proven bound on what lies beyond the last interval.
    ``step`` (R,) is the midpoint rule's: nothing varies faster near 0 than over a few of them.
    """
    left, width = panels(units, bias, step, link)
    total, check = torch.zeros_like(bias), torch.zeros_like(bias)
    at_once = max(1, _ELEMENTS // (_ORDER * units.mean.numel()))
    for some_left, some_width in zip(left.split(at_once), width.split(at_once), strict=True):
        total = total + _sum(units, bias, some_left, some_width, _ORDER, link)
        with torch.no_grad():
            check = check + _sum(units, bias, some_left, some_width, _CHECK_ORDER, link)
    with torch.no_grad():
        last = left[-1] + width[-1]
        envelope = torch.minimum(units.log_envelope(last), units.log_sharp_envelope(last))
        rest = rest_bound(envelope, last, units.sigma, link)
        return total, measured_error(total, check) + rest


@torch.no_grad()
def panels(
    units: ReluUnits | SmoothUnits, bias: Tensor, step: Tensor, link: str
) -> tuple[Tensor, Tensor]:
    """Return left ends and lengths of the intervals, shape (P, R); spent ones have length 0.

    Those of a row end where nothing follows that counts, or where they have become too many.
    """
    end = min(_END[link], 6.2 / units.sigma)
    ends: list[Tensor] = []
    widths: list[Tensor] = []
    left = torch.zeros_like(step)
    while bool((left < end).any()) and len(ends) < _MOST:
        widest = _TURN / (_turning(units, bias, left) + 1e-30)
        width = torch.where(left == 0, 2.0 * step, left).minimum(widest).clamp_max(end)
        width = torch.minimum(width, (end - left).clamp_min(0.0))
        ends.append(left)
        widths.append(width)
        left = torch.where(width > 0, left + width, end)
        # Rounding must not leave a sliver that never closes.
        left = torch.where(end - left < 1e-12 * end, end, left)
    return torch.stack(ends), torch.stack(widths)


def _turning(units: ReluUnits | SmoothUnits, bias: Tensor, t: Tensor) -> Tensor:
    r"""Return how many radians the integrand turns per unit of ``t`` from ``t`` (R,) on.

    A unit that is on adds the wave :math:`e^{it\mu_jv_j/A}` of size
    :math:`e^{-t^2(\sigma^2\mu_j^2 + s^2v_j^2)/2A}`, :math:`A = 1 + (\sigma st)^2`. Those that are
    surely on turn together, others each in its own way. SiLU's slope is at least ½ there.
    """
    shrink = 1.0 / (1.0 + (units.sigma * units.scale * t).square())
    energy = (units.sigma * units.mean).square() + (units.scale * units.weight).square()
    exponent = energy * (0.5 * t.square() * shrink) * (1.0 if units.activation == "relu" else 0.25)
    ratio, turn = units.mean / units.scale, units.mean * units.weight * shrink
    turn = torch.where((ratio > 0.0) & (exponent < _GONE), turn, 0.0)
    surely = ratio > _SURELY
    together = bias + torch.where(surely, turn, 0.0).sum(0)
    return together.abs() + torch.where(surely, 0.0, turn.abs()).sum(0)


def rule_pair(left: Tensor, width: Tensor) -> tuple[Tensor, Tensor]:
    """Return nodes (B, 1) of both rules on intervals (P,), and weights (B, 2) of dt/t."""
    nodes, weights = [], []
    for column, order in enumerate((_ORDER, _CHECK_ORDER)):
        points, shares = (torch.as_tensor(part).to(left) for part in _legendre(order))
        t = (left.unsqueeze(1) + width.unsqueeze(1) * points).clamp_min(1e-300)
        weight = torch.zeros((*t.shape, 2), dtype=t.dtype, device=t.device)
        weight[..., column] = width.unsqueeze(1) * shares / t
        nodes.append(t.reshape(-1, 1))
        weights.append(weight.reshape(-1, 2))
    return torch.cat(nodes), torch.cat(weights)


def measured_error(total: Tensor, check: Tensor) -> Tensor:
    """Return twice the distance between the two rules, as an error of the score."""
    return 2.0 * (total - check).abs() / math.pi


def _sum(
    units: ReluUnits, bias: Tensor, left: Tensor, width: Tensor, order: int, link: str
) -> Tensor:
    """Return the sum over intervals (P, R), every row its own."""
    points, shares = (torch.as_tensor(part).to(bias).reshape(-1, 1, 1) for part in _legendre(order))
    t = (left + width * points).clamp_min(1e-300)
    weight = (shares * width / t).flatten(0, 1)
    return (weight * integrand(units, bias, t.flatten(0, 1), link)).sum(0)


@cache
def _legendre(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return 0.5 * (nodes + 1.0), 0.5 * weights
