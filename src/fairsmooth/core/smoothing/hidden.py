r"""One hidden layer, exactly: the smooth score by the logit's characteristic function.

The perturbed logit :math:`L = (c + \sigma g_0) + \sum_j h_j (v_j + \sigma g_j)` is a sum of
independent terms, so its characteristic function is a product, and by Gil-Pelaez

.. math:: E\, g(L) = \tfrac12 + \frac1\pi \int_0^\infty \mathrm{Im}\,\varphi(t)\,\kappa(t)\,dt

with :math:`t\kappa(t) = \pi t/\sinh \pi t` (logistic), :math:`e^{-t^2/2}` (probit), 1 (step).
The midpoint rule with step :math:`2\pi/Q` replaces the step function by a square wave of
half period ``Q``: its error is at most the probability that the logit leaves
:math:`(-Q, Q)`, which Chernoff's bound controls, row by row, by closed-form
exponential moments. The derivation is in ``docs/smoothing.md``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing.graded import graded_integral
from fairsmooth.core.smoothing.inversion import decay_rate, integrand
from fairsmooth.core.smoothing.quadrature import QuadratureUnits
from fairsmooth.core.smoothing.relu import ReluUnits

Units = ReluUnits | QuadratureUnits

# A score closer than e^-26 = 5e-12 to 0 or 1 is given as 0 or 1.
_SATURATED = 26.0
# Largest theta·sigma·s: exponential moments are infinite from 1 on.
_NEAR_DIVERGENCE = 0.9
# More equal steps than this, and intervals of growing length take over.
_MANY = 1024
# Elements (unit, node, row) worked on at once by one thread: they fit its cache.
_TILE = 1 << 15
# Elements kept for the backward pass before recomputing is cheaper than memory.
_KEPT = 1 << 21


@dataclass(frozen=True)
class Accuracy:
    """How fine the integration is.

    Parameters
    ----------
    tail : float
        Each tail of the logit beyond the half period weighs at most ``exp(-tail)``.
    truncation : float
        What the nodes left out may add, by estimate.
    finer : float
        Divides the step further: 10 gives a reference with ten times the nodes.
    """

    tail: float = 15.0
    truncation: float = 5e-8
    finer: float = 1.0


@dataclass(frozen=True)
class _Plan:
    """How to integrate, row by row: all of shape (R,), none carries a gradient."""

    step: Tensor
    n_nodes: Tensor
    saturated: Tensor
    limit: Tensor
    tail: Tensor


def smooth_hidden(
    network: Network,
    parameters: Tensor,
    X: Tensor,
    *,
    sigma: float,
    link: str,
    accuracy: Accuracy = Accuracy(),  # noqa: B008 - frozen
) -> tuple[Tensor, Tensor]:
    r"""Return the exact smooth score of a network with one hidden layer, and its error.

    Parameters
    ----------
    network : Network
        With one hidden layer.
    parameters : float64 Tensor of shape (..., m)
    X : float64 Tensor of shape (..., n, d)
        Leading dimensions broadcast against those of ``parameters``.
    sigma : float
        Greater than 0.
    link : {"logistic", "probit", "step"}
    accuracy : Accuracy
        The default keeps the error below 5e-7.

    Returns
    -------
    probability : Tensor of shape (..., n)
        Differentiable in ``parameters`` and ``X``.
    error : Tensor of shape (..., n)
        Estimated bound on the error of ``probability``: a proven bound for the
        discretisation (Chernoff), a conservative estimate for the nodes left out,
        and an allowance for the rounding of the characteristic function.
    """
    units, bias, shape = _units(network, parameters, X, sigma)
    with torch.no_grad():
        plan = _plan_in_tiles(units, bias, link, accuracy)
        order = torch.argsort(plan.n_nodes)
        back = torch.argsort(order)
    probability, left_out = _integrate(
        units.take(order), bias[order], _reorder(plan, order), link, accuracy
    )
    n_units = units.mean.shape[0]
    error = plan.tail + left_out[back] + 2e-10 * (1 + n_units)
    return probability[back].reshape(shape), error.reshape(shape)


def _units(
    network: Network, parameters: Tensor, X: Tensor, sigma: float
) -> tuple[Units, Tensor, torch.Size]:
    """Lay the problem out with units first and all rows of all groups last."""
    (weight, bias), (out_weight, out_bias) = network.layers(parameters)
    mean = weight @ X.mT + bias.unsqueeze(-1)
    scale = sigma * (X.square().sum(-1) + 1.0).sqrt()
    batch, (n_units, n_rows) = mean.shape[:-2], mean.shape[-2:]
    shape = torch.Size((*batch, n_rows))
    out = out_weight.squeeze(-2).unsqueeze(-1)
    if batch:
        mean = mean.movedim(-2, 0).reshape(n_units, -1)
        out = out.expand(*batch, n_units, n_rows).movedim(-2, 0).reshape(n_units, -1)
    flat_scale = scale.expand(shape).reshape(-1)
    flat_bias = out_bias.expand(shape).reshape(-1)
    return _make(network.activation, sigma)(mean, flat_scale, out), flat_bias, shape


def _make(activation: str, sigma: float) -> Callable[[Tensor, Tensor, Tensor], Units]:
    if activation == "relu":
        return partial(ReluUnits, sigma=sigma)
    return partial(QuadratureUnits, sigma=sigma, activation=activation)


def _plan_in_tiles(units: Units, bias: Tensor, link: str, accuracy: Accuracy) -> _Plan:
    n_units, n_rows = units.mean.shape
    size = max(1, _TILE * torch.get_num_threads() // n_units)
    plans = [
        _plan(units.narrow(start, len(part)), part, link, accuracy)
        for start, part in zip(range(0, max(n_rows, 1), size), bias.split(size), strict=True)
    ]
    return _Plan(*(torch.cat([getattr(plan, f.name) for plan in plans]) for f in fields(_Plan)))


def _plan(units: Units, bias: Tensor, link: str, accuracy: Accuracy) -> _Plan:
    """Choose step and number of nodes from the logit's moments and exponential moments."""
    sigma = units.sigma
    link_variance = 1.0 if link == "probit" else 0.0
    variance = units.moments()[1] + sigma**2
    theta = math.sqrt(2.0 * accuracy.tail) / (variance + link_variance).sqrt()
    theta = torch.minimum(theta, _NEAR_DIVERGENCE / (sigma * units.scale))
    if link == "logistic":
        theta = theta.clamp_max(1.0)
    common = 0.5 * theta.square() * (sigma**2 + link_variance)
    up = common + theta * bias + units.log_exponential_moment(theta)
    down = common - theta * bias + units.log_exponential_moment(-theta)
    half_period = accuracy.finer * (torch.maximum(up, down) + accuracy.tail) / theta
    step = 2.0 * math.pi / half_period
    reach = _reach(units, variance, accuracy.tail, link)
    saturated = torch.minimum(up, down) < -_SATURATED
    most = accuracy.finer * _MANY
    n_nodes = torch.where(saturated, 0.0, (reach / step).ceil().clamp(4.0, most))
    # The two tails err in opposite directions, so the larger one bounds their sum.
    tail = torch.exp(torch.maximum(up, down) - theta * half_period)
    limit = (down < up).to(bias.dtype)
    return _Plan(step, n_nodes.long(), saturated, limit, tail)


def _reach(units: Units, variance: Tensor, tail: float, link: str) -> Tensor:
    r"""Guess where the integrand has fallen to the tolerance.

    As if the logit had :math:`J = 2\tau^2/(\sigma s)^2` units, each active half of the time:
    :math:`|\varphi| = (\frac12 + \frac12 (1 + (\sigma s t)^2)^{-1/2})^J`, Gaussian for many units
    and slower for few; times the link's factor, :math:`e^{-\pi t}` or :math:`e^{-t^2/2}`.
    Only a guess: nodes are added until they no longer matter.
    """
    width = units.sigma * units.width
    share = 2.0 * torch.exp(-0.5 * (tail - 1.5) * width.square() / variance) - 1.0
    alone = (share.clamp_min(0.25).pow(-2.0) - 1.0).sqrt() / width
    if link == "step":
        return alone
    curvature = 2.0 * tail / alone.square()
    if link == "probit":
        return (2.0 * tail / (curvature + 1.0)).sqrt()
    exponent = tail + 3.5
    return 2.0 * exponent / (math.pi + (math.pi**2 + 2.0 * exponent * curvature).sqrt())


def _reorder(plan: _Plan, order: Tensor) -> _Plan:
    return _Plan(*(getattr(plan, f.name)[order] for f in fields(plan)))


def _integrate(
    units: Units, bias: Tensor, plan: _Plan, link: str, accuracy: Accuracy
) -> tuple[Tensor, Tensor]:
    """Sum the midpoint rule over tiles of rows that need about as many nodes."""
    recompute = _must_recompute(units, plan)
    make = _make(units.activation, units.sigma)
    sums, rests = [bias[:0]], [bias[:0]]
    for start, length in _tiles(plan.n_nodes.tolist(), units.mean.shape[0]):
        rows = slice(start, start + length)
        tile = partial(
            _tile, make, plan.step[rows], int(plan.n_nodes[start + length - 1]), link, accuracy
        )
        part = units.narrow(start, length)
        arguments = (part.mean, part.scale, part.weight, bias[rows])
        if recompute:
            total, rest = checkpoint(tile, *arguments, use_reentrant=False)
        else:
            total, rest = tile(*arguments)
        sums.append(total)
        rests.append(rest)
    probability = torch.where(plan.saturated, plan.limit, 0.5 + torch.cat(sums) / math.pi)
    return probability.clamp(0.0, 1.0), torch.cat(rests)


def _must_recompute(units: Units, plan: _Plan) -> bool:
    tracked = torch.is_grad_enabled() and (
        units.mean.requires_grad or units.weight.requires_grad or units.scale.requires_grad
    )
    points = 1 if units.activation == "relu" else 32
    return tracked and int(plan.n_nodes.sum()) * units.mean.shape[0] * points > _KEPT


def _tiles(n_nodes: list[int], n_units: int) -> list[tuple[int, int]]:
    """Cut rows, sorted by nodes, into ``(start, length)`` of at most a tile of elements."""
    budget = _TILE * torch.get_num_threads() // n_units
    tiles = []
    start = 0
    for row, nodes in enumerate(n_nodes):
        if row > start and (row - start + 1) * max(nodes, 1) > budget:
            tiles.append((start, row - start))
            start = row
    if n_nodes:
        tiles.append((start, len(n_nodes) - start))
    return tiles


def _tile(
    make: Callable[[Tensor, Tensor, Tensor], Units],
    step: Tensor,
    n_nodes: int,
    link: str,
    accuracy: Accuracy,
    *rows: Tensor,
) -> tuple[Tensor, Tensor]:
    """Sum the first nodes, then as many more as the slowest rows ask for."""
    mean, scale, weight, bias = rows
    units = make(mean, scale, weight)
    total, rest = _block(units, bias, step, (0, n_nodes), link)
    first, more_nodes = n_nodes, 2 + n_nodes // 8
    while first and bool((rest > accuracy.truncation).any()):
        still = torch.nonzero(rest > accuracy.truncation).squeeze(1)
        some, some_bias = units.take(still), bias[still]
        if first >= accuracy.finer * _MANY:
            whole, gap = graded_integral(some, some_bias, step[still], link)
            return total.index_copy(0, still, whole), rest.index_copy(0, still, gap)
        last = first + more_nodes
        more, new_rest = _block(some, some_bias, step[still], (first, last), link)
        total = total.index_add(0, still, more)
        rest = rest.index_copy(0, still, new_rest)
        first, more_nodes = last, 2 * more_nodes
    return total, rest


def _block(
    units: Units, bias: Tensor, step: Tensor, nodes: tuple[int, int], link: str
) -> tuple[Tensor, Tensor]:
    """Return the sum over nodes ``first … last - 1``, and what later ones may add."""
    first, last = nodes
    if first == last:  # zeros that autograd can still trace to every input
        return (bias + units.mean[0]) * 0.0, torch.zeros_like(bias)
    halves = torch.arange(first, last, dtype=bias.dtype, device=bias.device).unsqueeze(1) + 0.5
    t = halves * step
    value, size = integrand(units, bias, t, link)
    return (value / halves).sum(0), _rest(
        size / halves, step * decay_rate(t[-1], units.sigma, link)
    )


@torch.no_grad()
def _rest(sizes: Tensor, known_decay: Tensor) -> Tensor:
    """Estimate what the nodes after the last may add, as a geometric series.

    Its ratio is that of the last nodes, or what the known factors guarantee if that is
    less; twice the sum allows for a decay that slows down. Terms of varying sign make
    the true rest smaller still.
    """
    back = min(3, len(sizes) - 1)
    tiny = torch.finfo(sizes.dtype).tiny
    seen = (sizes[-1] / sizes[-1 - back].clamp_min(tiny)) ** (1.0 / max(back, 1))
    ratio = torch.minimum(torch.exp(-known_decay), seen.clamp_min(0.3)).clamp_max(0.98)
    # An accidentally small last node must not hide the others.
    last = torch.maximum(sizes[-1], sizes[-1 - min(1, back)] * ratio)
    return 2.0 * last * ratio / (1.0 - ratio) / math.pi
