"""The midpoint rule for layers of smooth units: one step for all rows of a tile.

Then the units' characteristic functions at all nodes and rows are matrix products. The
range is proven to be long enough and so is often longer than the integrand; nodes where
some of the units already make the product negligible are dropped, with what they may add.
"""

import math

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from fairsmooth.core.smoothing.graded import graded_integral
from fairsmooth.core.smoothing.inversion import known_decay, rest_bound
from fairsmooth.core.smoothing.plan import Accuracy, Plan
from fairsmooth.core.smoothing.smooth_units import SmoothUnits

# Units asked first whether a node matters.
_FIRST = 12
# Elements of one table or of the shares worked on at once.
_ELEMENTS = 1 << 20
# Nodes of the integral times nodes of the units' rule, for one row: a fraction of a second.
WORK = 1_000_000
# Rows of a tile whose steps differ by more than this factor are kept apart.
_ALIKE = 1.3


def integrate_shared(
    units: SmoothUnits, bias: Tensor, plan: Plan, link: str, accuracy: Accuracy
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the integral, what was left out of it, and the nodes taken, for every row."""
    order = torch.argsort(torch.where(plan.saturated, math.inf, plan.step))
    units, bias, plan = units.take(order), bias[order], plan.take(order)
    parts = [(bias[:0], bias[:0], bias[:0])]
    for start, length in _tiles(plan, units.mean.shape[0]):
        rows = slice(start, start + length)
        parts.append(
            _tile(units.narrow(start, length), bias[rows], plan.take(rows), link, accuracy)
        )
    back = torch.argsort(order)
    total, rest, nodes = (torch.cat(column)[back] for column in zip(*parts, strict=True))
    return total, rest, nodes


def _tiles(plan: Plan, n_units: int) -> list[tuple[int, int]]:
    """Cut rows, sorted by step, into ``(start, length)`` with steps alike."""
    most = max(1, _ELEMENTS // (64 * n_units))
    steps, saturated = plan.step.tolist(), plan.saturated.tolist()
    tiles = []
    start = 0
    for row in range(1, len(steps) + 1):
        if (
            row == len(steps)
            or row - start >= most
            or saturated[row] != saturated[start]
            or not (saturated[row] or steps[row] <= _ALIKE * steps[start])
        ):
            tiles.append((start, row - start))
            start = row
    return tiles


def _tile(
    units: SmoothUnits, bias: Tensor, plan: Plan, link: str, accuracy: Accuracy
) -> tuple[Tensor, Tensor, Tensor]:
    zero = (bias + units.mean[0]) * 0.0  # autograd can still trace it to every input
    step = float(plan.step.min())
    if bool(plan.saturated[0]) or not 0.0 < step < math.inf:
        bad = torch.where(plan.saturated, 0.0, 1.0)
        return zero, bad, torch.zeros_like(bias).detach()
    reach = float(plan.reach.max())
    last = _affordable(units, step, reach, accuracy)
    if units.activation == "silu" and last * step < reach:
        return _graded(units, bias, plan, link)
    end = torch.full_like(plan.step, last * step)
    with torch.no_grad():
        left_out = rest_bound(units.log_envelope(end), end, units.sigma, link)
    floor = 0.5 * accuracy.truncation / max(last, 1)
    total = zero
    for first, stop in _blocks(last):
        halves = torch.arange(first, stop).to(bias).unsqueeze(1) + 0.5
        more, dropped = _block(units, bias, step * halves, halves, link, floor)
        total, left_out = total + more, left_out + dropped
    return total, left_out, torch.full_like(plan.step, last)


def _graded(
    units: SmoothUnits, bias: Tensor, plan: Plan, link: str
) -> tuple[Tensor, Tensor, Tensor]:
    """Integrate rows one by one on growing intervals, for scales as far apart as ReLU's can be."""
    pairs = [
        graded_integral(units.narrow(row, 1), bias[row : row + 1], plan.step[row : row + 1], link)
        for row in range(len(bias))
    ]
    total, error = (torch.cat(column) for column in zip(*pairs, strict=True))
    return total, error, torch.full_like(plan.step, 1024.0)


def _affordable(units: SmoothUnits, step: float, reach: float, accuracy: Accuracy) -> int:
    """Return the number of nodes up to ``reach``, or as many as the work for one row allows."""
    while reach / step * units.n_points(reach) > WORK * accuracy.finer:
        reach *= 0.8
    return max(1, math.ceil(reach / step))


def _blocks(last: int) -> list[tuple[int, int]]:
    """Cut nodes into ranges that double, up to a limit: early ones need coarser rules."""
    blocks, first, size = [], 0, 16
    while first < last:
        blocks.append((first, min(first + size, last)))
        first, size = first + size, min(2 * size, 256)
    return blocks


def _block(
    units: SmoothUnits, bias: Tensor, t: Tensor, halves: Tensor, link: str, floor: float
) -> tuple[Tensor, Tensor]:
    """Return the sum over nodes ``t`` (B, 1), and what the dropped ones may have added."""
    n_units, n_rows = units.mean.shape
    decay = known_decay(t, units.sigma, link) / halves
    re = torch.ones((len(t), n_rows), dtype=bias.dtype, device=bias.device)
    im = torch.zeros_like(re)
    dropped = torch.zeros(n_rows, dtype=bias.dtype, device=bias.device)
    start, size = 0, min(_FIRST, n_units)
    while start < n_units and len(t):
        part = units.some(slice(start, start + size))
        re, im = _times(re, im, *_product(part, t))
        start += size
        with torch.no_grad():
            bound = decay * (torch.hypot(re, im) + units.unit_error * start) / math.pi
            keep = bound.amax(1) > floor
        if start < n_units and not bool(keep.all()):
            dropped = dropped + bound[~keep].sum(0)
            t, decay, re, im = t[keep], decay[keep], re[keep], im[keep]
        if len(t):
            points = max(len(t), n_rows) * units.n_points(float(t.max()))
            size = max(1, int(_ELEMENTS / points))
    phase = bias * t
    return (decay * (im * torch.cos(phase) + re * torch.sin(phase))).sum(0), dropped


def _product(units: SmoothUnits, t: Tensor) -> tuple[Tensor, Tensor]:
    """Return the product of the units' factors; recompute it in the backward pass."""

    def product(mean: Tensor, scale: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        part = SmoothUnits(mean, scale, weight, units.sigma, units.activation)
        return part.characteristic(t)

    arguments = (units.mean, units.scale, units.weight)
    if torch.is_grad_enabled() and any(each.requires_grad for each in arguments):
        result: tuple[Tensor, Tensor] = checkpoint(product, *arguments, use_reentrant=False)
        return result
    return product(*arguments)


def _times(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    return torch.addcmul(a * c, b, d, value=-1.0), torch.addcmul(a * d, b, c)
