r"""Upper bounds on expectations over smooth units, at arguments common to all rows.

Exponential moments :math:`E e^{\lambda h + qh^2}`, :math:`\lambda = \theta v_j`,
:math:`q = \theta^2\sigma^2/2`, and envelopes :math:`E e^{-ch^2}`, :math:`c = \sigma^2T^2/2`, are
columns of one matrix product. They only choose step and range of the integral, so a coarse rule
will do: its error, proven like that of the characteristic function, is added. Exponential
moments are taken of tanh units only; those of SiLU follow from ReLU's.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from fairsmooth.core.architecture import ACTIVATIONS
from fairsmooth.core.smoothing import rules, unit_laws
from fairsmooth.core.smoothing.chernoff import Bounds, first_enough, geometric, rising_ends
from fairsmooth.core.smoothing.grids import Grid, grid_within

if TYPE_CHECKING:
    from fairsmooth.core.smoothing.smooth_units import SmoothUnits

# Error of the rule: a share of exponential moments, and an absolute one of envelopes.
PRECISION = 1e-5
# Values of Chernoff's parameter and of the range that are tried, for all rows of a tile at once.
_N_THETAS, _N_REACHES = 5, 8
# Scale below which concentration may give the better exponential moments.
_NARROW = 0.5
# Largest exponents of a moment: the rule would become finer than the moment is worth.
_MOST_TILT = 12.0
# What single precision adds, proven in docs/smoothing.md for points within so many of the
# narrowest law's standard deviations and at most so many; moments may grow by e to the last.
_SINGLE, _NEAR, _FEW_POINTS, _MOST_GROWTH = 2e-5, 32.0, 48, 3.0
# How far from 0 laws of SiLU units may reach.
_WIDEST = 300.0
# Elements (unit, row, point) worked on at once.
_ELEMENTS = 1 << 16


def tanh_bounds(units: "SmoothUnits", link: str, tail: float, truncation: float) -> Bounds:
    """Return exponential moments at a few parameters, and a range proven to be enough."""
    spread, energy = _guesses(units)
    theta = math.sqrt(2.0 * tail) / (spread + (1.0 if link == "probit" else 0.0)).sqrt()
    theta = theta.clamp_max(1.0 if link == "logistic" else math.inf)
    if units.scattered:
        both = units.log_exponential_moment(torch.stack([theta, -theta])).unsqueeze(1)
        return Bounds(theta.unsqueeze(0), both[0], both[1], *units.reach(link, truncation))
    tried = geometric(0.75 * theta.min(), theta.max(), _N_THETAS)
    tried = tried.clamp_max(_MOST_TILT / float(units.weight.abs().max().clamp_min(1e-300)))
    guess = (-2.0 * math.log(truncation) / energy).sqrt()
    reaches = rising_ends(guess, units.sigma, link, truncation, count=_N_REACHES)
    both, envelope = log_bounds(units, torch.cat([tried, -tried]), reaches)
    up, down = both[: len(tried)], both[len(tried) :]
    tried = tried.unsqueeze(1).expand_as(up)
    if float(units.scale.min()) < _NARROW:
        also = units.log_exponential_moment(torch.stack([theta, -theta])).unsqueeze(1)
        tried = torch.cat([tried, theta.unsqueeze(0)])
        up, down = torch.cat([up, also[0]]), torch.cat([down, also[1]])
    reach = first_enough(envelope, reaches.unsqueeze(1), units.sigma, link, truncation)
    return Bounds(tried, up, down, *reach)


def silu_reach(
    units: "SmoothUnits", guess: Tensor, link: str, truncation: float
) -> tuple[Tensor, Tensor] | None:
    """Return where SiLU's integral may end and what is left, or None for laws too wide or apart.

    ``guess`` is where it should be.
    """
    widest = float((units.mean.abs().amax(0) + rules.CUT * units.scale).max())
    if widest > _WIDEST or units.scattered:
        return None
    reaches = rising_ends(guess, units.sigma, link, truncation, count=_N_REACHES)
    _, envelope = log_bounds(units, reaches[:0], reaches)
    return first_enough(envelope, reaches.unsqueeze(1), units.sigma, link, truncation)


def _guesses(units: "SmoothUnits") -> tuple[Tensor, Tensor]:
    """Guess the logit's variance, and the part of it that is the output weights' noise."""
    size = units.mean.square() + units.scale.square()
    second = size / (1.0 + size)
    first = units.mean.square() / (1.0 + units.mean.square() + 1.6 * units.scale.square())
    energy = units.sigma**2 * (1.0 + second.sum(0))
    return energy + (units.weight.square() * (second - first).clamp_min(0.0)).sum(0), energy


def log_bounds(units: "SmoothUnits", theta: Tensor, reach: Tensor) -> tuple[Tensor, Tensor]:
    r"""Bound sums over units of logarithms of exponential moments and of envelopes.

    ``theta`` has the shape (A,) and is empty for SiLU, ``reach`` the shape (B,). Returns
    :math:`\sum_j\log E e^{\theta v_jh_j + \theta^2\sigma^2h_j^2/2}` of shape (A, R), and
    :math:`\sum_j\log E e^{-\sigma^2T^2h_j^2/2}` of shape (B, R), each an upper bound.
    """
    mean, scale, sigma = units.mean, units.scale, units.sigma
    tilt, q = units.weight * theta, 0.5 * (sigma * theta).square()
    # Envelopes fall, so the last but one serves the last, whose own would ask for a finer rule.
    damping = 0.5 * (sigma * reach[:-1]).square()
    growth = _largest(2.0 * tilt.abs() + q)
    cut = _cut(growth)
    grid = _grid(units, _largest(tilt.abs()), _largest(q), float(damping.max()), cut=cut)
    value = ACTIVATIONS[units.activation](grid.fine)
    value = torch.cat([value, value.new_tensor([-1.0, 1.0])])
    bent = torch.exp(tilt.unsqueeze(-1) * value + q.unsqueeze(-1) * value.square())
    damped = torch.exp(-damping.unsqueeze(-1) * value.square())
    bent, damped = (unit_laws.less_ends(part, grid) for part in (bent, damped))
    table = torch.cat([bent, damped.expand(len(mean), -1, -1)], 1)
    # A moment is at least e^-|λ|; what lies beyond the cut counts at most e^(|λ| + q).
    beyond = 2.0 * math.erfc(cut / math.sqrt(2.0))
    if _single(grid, scale, growth):
        middle = grid.points.mean()
        mean, scale, table = (mean - middle).float(), scale.float(), table.float()
        grid, beyond = replace(grid, points=(grid.points - middle).float()), beyond + _SINGLE
    lost = beyond * torch.exp((2.0 * tilt.abs().amax(0) + q).clamp_max(600.0))
    factor = torch.cat([1.0 + 3.0 * PRECISION + lost, torch.ones_like(damping)]).unsqueeze(1)
    error = torch.full_like(damping, 3.0 * PRECISION + beyond)
    slack = torch.cat([torch.zeros_like(theta), error])
    total = slack.new_zeros((len(factor), mean.shape[1]))
    size = max(1, _ELEMENTS // (mean.shape[1] * len(grid.points)))
    for start in range(0, len(mean), size):
        some = slice(start, start + size)
        parts = torch.bmm(table[some], unit_laws.densities(mean[some], scale, grid).mT).double()
        total += parts.mul_(factor).add_(slack.unsqueeze(1)).clamp_min_(1e-300).log_().sum(0)
    envelope = total[len(theta) :].clamp_max_(0.0)
    return total[: len(theta)], torch.cat([envelope, envelope[-1:]])


def _single(grid: Grid, scale: Tensor, growth: float) -> bool:
    """Tell whether single precision errs by less than ``_SINGLE``, and that hardly counts."""
    if grid.ends or growth > _MOST_GROWTH or len(grid.points) > _FEW_POINTS:
        return False
    if scale.device.type != "cpu" or torch.get_float32_matmul_precision() != "highest":
        return False  # products may be rounded further
    return float(grid.points[-1] - grid.points[0]) <= _NEAR * float(scale.min())


def _cut(growth: float) -> float:
    """Return where to cut laws so that what lies beyond, ``exp(growth)`` times, hardly counts."""
    return min(rules.CUT, math.sqrt(2.0 * (math.log(10.0 / PRECISION) + growth)))


def _grid(units: "SmoothUnits", tilt: float, q: float, damping: float, *, cut: float) -> Grid:
    r"""Return nodes for which all columns err by less than they are allowed to.

    On the strip of height ``d``, :math:`|\mathrm{Re}\tanh| \le A` with ``A`` = 1, or
    :math:`1/\sin 2d` beyond :math:`\pi/4`; imaginary parts are bounded in ``rules.py``. So columns
    are at most :math:`e^{A|\lambda| + A^2q}` and :math:`e^{cI^2}` there; a moment is itself at
    least :math:`e^{-|\lambda|}`.
    """
    least, steps = float(units.scale.min()), []
    needed = math.log(10.0 / PRECISION)
    for d in rules.strips(units.activation, least):
        a = 1.0 if d <= math.pi / 4.0 else 1.0 / math.sin(2.0 * d)
        still = damping * rules.imaginary(units.activation, d) ** 2
        growth = max((1.0 + a) * tilt + a * a * q, still)
        steps.append(2.0 * math.pi * d / (needed + 0.5 * (d / least) ** 2 + growth))
    # Beyond, tanh is within 2exp(-2|y|) of ±1, and the switch within its tail of 0 or 1.
    far = needed + 2.0 * tilt + q + math.log1p(tilt + 2.0 * q + 2.0 * damping)
    end = max(0.5 * far, rules.SWITCH * math.sqrt(2.0 * far))
    end = end if units.activation == "tanh" else math.inf
    precision = 0.1 * PRECISION * math.exp(-2.0 * tilt - q)
    laws = (units.mean, units.scale)
    return grid_within((-end, end), max(steps), *laws, precision=precision, cut=cut)


def _largest(values: Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0
