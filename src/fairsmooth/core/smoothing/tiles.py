"""The midpoint rule for ReLU layers: every row its own step, rows in tiles that fit a cache."""

import math
from functools import partial

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from fairsmooth.core.smoothing.graded import graded_integral
from fairsmooth.core.smoothing.inversion import integrand, rest_bound
from fairsmooth.core.smoothing.plan import Accuracy, Plan
from fairsmooth.core.smoothing.relu import ReluUnits

# More equal steps than this, and intervals of growing length take over.
MANY = 1024
# Elements (unit, node, row) worked on at once by one thread: they fit its cache.
TILE = 1 << 15
# Elements kept for the backward pass before recomputing is cheaper than memory.
KEPT = 1 << 21


def integrate_tiles(
    units: ReluUnits, bias: Tensor, plan: Plan, link: str, accuracy: Accuracy
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the integral, what its rest may add, and the nodes taken, for every row."""
    most = accuracy.finer * MANY
    wanted = plan.reach / plan.step
    counts = wanted.nan_to_num(most).ceil().clamp(4.0, most)
    counts = torch.where(plan.saturated, 0.0, counts)
    # What lies beyond the range is known, unless so many nodes are too many.
    beyond = torch.where(wanted <= most, plan.rest, math.inf)
    n_units = units.mean.shape[0]
    nodes = int(counts.max()) if len(bias) else 0
    if 0 < len(bias) * nodes <= _budget(n_units):  # few rows are one tile, and not to be sorted
        rows = units.mean, units.scale, units.weight, bias
        return _tile(units.sigma, plan.step, beyond, nodes, link, accuracy, *rows)
    order = torch.argsort(counts)
    units, bias, counts = units.take(order), bias[order], counts[order].long()
    step, beyond = plan.step[order], beyond[order]
    recompute = units.tracked and int(counts.sum()) * n_units > KEPT
    parts = [(bias[:0], bias[:0], bias[:0])]
    for start, length in _tiles(counts.tolist(), n_units):
        some = slice(start, start + length)
        tile = partial(
            _tile,
            units.sigma,
            step[some],
            beyond[some],
            int(counts[start + length - 1]),
            link,
            accuracy,
        )
        part = units.narrow(start, length)
        arguments = (part.mean, part.scale, part.weight, bias[some])
        if recompute:
            parts.append(checkpoint(tile, *arguments, use_reentrant=False))
        else:
            parts.append(tile(*arguments))
    back = torch.argsort(order)
    total, rest, taken = (torch.cat(column)[back] for column in zip(*parts, strict=True))
    return total, rest, taken


def _budget(n_units: int) -> int:
    """Return how many nodes of rows are a tile."""
    return TILE * torch.get_num_threads() // n_units


def _tiles(n_nodes: list[int], n_units: int) -> list[tuple[int, int]]:
    """Cut rows, sorted by nodes, into ``(start, length)`` of at most a tile of elements."""
    budget = _budget(n_units)
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
    sigma: float,
    step: Tensor,
    rest: Tensor,
    n_nodes: int,
    link: str,
    accuracy: Accuracy,
    *rows: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Sum the first nodes, then as many more as the slowest rows ask for.

    ``rest`` bounds what follows the first nodes, perhaps not sharply.
    """
    mean, scale, weight, bias = rows
    units = ReluUnits(mean, scale, weight, sigma)
    nodes = torch.full_like(step, n_nodes)
    if n_nodes == 0:  # zeros that autograd can still trace to every input
        return (bias + mean[0]) * 0.0, torch.zeros_like(step), nodes
    total = _block(units, bias, step, (0, n_nodes), link)
    still = _unproven(rest, accuracy)
    if len(still):
        sharp = _rest(units.take(still), n_nodes * step[still], link, accuracy)
        rest = rest.index_copy(0, still, sharp)
        still = _unproven(rest, accuracy)
    first, more_nodes = n_nodes, 2 + n_nodes // 8
    while len(still):
        some, some_bias = units.take(still), bias[still]
        if first >= accuracy.finer * MANY:
            whole, gap = graded_integral(some, some_bias, step[still], link)
            return total.index_copy(0, still, whole), rest.index_copy(0, still, gap), nodes
        last = first + more_nodes
        more = _block(some, some_bias, step[still], (first, last), link)
        total = total.index_add(0, still, more)
        rest = rest.index_copy(0, still, _rest(some, last * step[still], link, accuracy))
        nodes = nodes.index_fill(0, still, last)
        first, more_nodes, still = last, 2 * more_nodes, _unproven(rest, accuracy)
    return total, rest, nodes


def _unproven(rest: Tensor, accuracy: Accuracy) -> Tensor:
    """Return the rows whose nodes left out may matter."""
    return torch.nonzero(rest > accuracy.truncation).squeeze(1)


def _block(
    units: ReluUnits, bias: Tensor, step: Tensor, nodes: tuple[int, int], link: str
) -> Tensor:
    """Return the sum over nodes ``first … last - 1``."""
    first, last = nodes
    halves = torch.arange(first + 0.5, last, dtype=bias.dtype, device=bias.device).unsqueeze(1)
    return (integrand(units, bias, halves * step, link) / halves).sum(0)


@torch.no_grad()
def _rest(units: ReluUnits, end: Tensor, link: str, accuracy: Accuracy) -> Tensor:
    """Bound what lies beyond ``end``, sharply only for the rows that need it."""
    rest = rest_bound(units.log_envelope(end), end, units.sigma, link)
    still = _unproven(rest, accuracy)
    if len(still) == 0:
        return rest
    sharp = rest_bound(
        units.take(still).log_sharp_envelope(end[still]), end[still], units.sigma, link
    )
    return rest.index_copy(0, still, sharp)
