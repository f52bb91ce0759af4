"""The midpoint rule for layers of smooth units: one step for all rows of a tile.

Then the units' characteristic functions at all nodes and rows are matrix products. The
range is proven to be long enough and so is often longer than the integrand; nodes where
some of the units already make the product negligible are dropped, with what they may add.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from fairsmooth.core.smoothing.graded import measured_error, panels, rule_pair
from fairsmooth.core.smoothing.inversion import known_decay, rest_bound
from fairsmooth.core.smoothing.plan import Accuracy, Plan
from fairsmooth.core.smoothing.smooth_units import SmoothUnits

# Units asked first whether a node matters.
_FIRST = 12
# Elements of one table or of the shares worked on at once.
_ELEMENTS = 1 << 20
# Rows times units of a tile, without and with a gradient, which keeps larger arrays.
_ROWS = {False: 1 << 16, True: 1 << 14}
# Nodes of the integral, times nodes of a unit's rule, times units, for one row: a fifth of a
# second. Without a link's noise the range often is out of reach anyway.
WORK = {"logistic": 10_000_000, "probit": 10_000_000, "step": 4_000_000}
# Elements (unit, node, row) kept for the backward pass before recomputing is cheaper than memory.
KEPT = 1 << 21
# Nodes of equal steps times nodes of a unit's rule from which on growing intervals take over.
_EQUAL = 1_000_000
# Rows of a tile whose steps differ by more than this factor are kept apart.
_ALIKE = 1.3


def integrate_shared(
    units: SmoothUnits, bias: Tensor, plan: Plan, link: str, accuracy: Accuracy
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the integral, what was left out of it, and the nodes taken, for every row."""
    order, sizes = _tiles(units, plan)
    units, bias, plan = units.take(order), bias[order], plan.take(order)
    parts, start = [(bias[:0], bias[:0], bias[:0])], 0
    for length in sizes:
        rows = slice(start, start + length)
        parts.append(
            _tile(units.narrow(start, length), bias[rows], plan.take(rows), link, accuracy)
        )
        start += length
    back = torch.argsort(order)
    total, rest, nodes = (torch.cat(column)[back] for column in zip(*parts, strict=True))
    return total, rest, nodes


def _tiles(units: SmoothUnits, plan: Plan) -> tuple[Tensor, list[int]]:
    """Return an order of the rows and the sizes of tiles: alike in step, then in scale.

    Rows that are alike in scale need fewer points for their densities.
    """
    order = torch.argsort(torch.where(plan.saturated, math.inf, plan.step))
    most = max(1, _ROWS[units.tracked] // units.mean.shape[0])
    scale, parts, sizes = units.scale.detach(), [order[:0]], []
    for start, length in alike(plan.step[order], plan.saturated[order], most=len(order)):
        some = order[start : start + length]
        parts.append(some[torch.argsort(scale[some])])
        sizes += [len(part) for part in some.split(most)]
    return torch.cat(parts), sizes


def alike(
    steps: Tensor, saturated: Tensor, *, most: int, ratio: float = _ALIKE
) -> list[tuple[int, int]]:
    """Cut sorted rows into ``(start, length)`` with steps within a ratio, ``most`` at a time."""
    known, decided = steps.tolist(), saturated.tolist()
    tiles = []
    start = 0
    for row in range(1, len(known) + 1):
        if (
            row == len(known)
            or row - start >= most
            or decided[row] != decided[start]
            or not (decided[row] or known[row] <= ratio * known[start])
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
    last = max(1, math.ceil(reach / step))
    if units.activation == "silu" and last * units.n_points(reach) > _EQUAL * accuracy.finer:
        return _graded(units, bias, plan, link, accuracy)
    keep = _Block(link, 0.5 * accuracy.truncation / last, recompute=_many(units, last))
    total, left_out, done, work = zero, torch.zeros_like(bias), 0, 0.0
    for first, stop in _blocks(last):
        if work + _least_work(units, step * stop, stop - first) > WORK[link] * accuracy.finer:
            break
        halves = torch.arange(first, stop).to(bias).unsqueeze(1) + 0.5
        more, dropped, spent = keep.sum(units, bias, step * halves, 1.0 / halves)
        total, left_out, done, work = total + more[0], left_out + dropped, stop, work + spent
    rest = plan.rest if done == last else _rest(units, max(done * step, 1e-300), link)
    return total, left_out + rest, torch.full_like(plan.step, done)


def _graded(
    units: SmoothUnits, bias: Tensor, plan: Plan, link: str, accuracy: Accuracy
) -> tuple[Tensor, Tensor, Tensor]:
    """Integrate rows one by one on growing intervals, for scales as far apart as ReLU's can be."""
    pairs = [
        _graded_row(
            units.narrow(row, 1), bias[row : row + 1], plan.step[row : row + 1], link, accuracy
        )
        for row in range(len(bias))
    ]
    total, error = (torch.cat(column) for column in zip(*pairs, strict=True))
    return total, error, torch.full_like(plan.step, 1024.0)


def _graded_row(
    units: SmoothUnits, bias: Tensor, step: Tensor, link: str, accuracy: Accuracy
) -> tuple[Tensor, Tensor]:
    left, width = (part.squeeze(1) for part in panels(units, bias, step, link))
    both = torch.zeros((2, 1), dtype=bias.dtype, device=bias.device)
    keep = _Block(link, 1e-3 * accuracy.truncation / len(left), recompute=True)
    left_out, end, work = torch.zeros_like(step), 1e-300, 0.0
    for some_left, some_width in zip(left.split(4), width.split(4), strict=True):
        last = float(some_left[-1] + some_width[-1])
        if work + _least_work(units, last, 4 * 68) > WORK[link] * accuracy.finer:
            break
        more, dropped, spent = keep.sum(units, bias, *rule_pair(some_left, some_width))
        both, left_out, work, end = both + more, left_out + dropped, work + spent, last
    error = measured_error(both[0], both[1]).detach()
    return both[0], error + left_out + _rest(units, end, link)


def _least_work(units: SmoothUnits, t: float, n_nodes: int) -> float:
    """Return the work for nodes up to ``t`` if the first units show that they do not matter."""
    return _work(min(_FIRST, units.mean.shape[0]), n_nodes, units.n_points(t))


def _work(n_units: int, n_nodes: int, points: float) -> float:
    # A pass over few elements costs as much as one over some hundred.
    return max(n_units * n_nodes, 500) * points


def _many(units: SmoothUnits, last: int) -> bool:
    return units.mean.numel() * last > KEPT


@torch.no_grad()
def _rest(units: SmoothUnits, end: float, link: str) -> Tensor:
    last = torch.full_like(units.scale, end)
    return rest_bound(units.log_envelope(last), last, units.sigma, link)


def _blocks(last: int) -> list[tuple[int, int]]:
    """Cut nodes into ranges that double, up to a limit: early ones need coarser rules."""
    blocks, first, size = [], 0, 16
    while first < last:
        blocks.append((first, min(first + size, last)))
        first, size = first + size, min(2 * size, 256)
    return blocks


@dataclass(frozen=True)
class _Block:
    """How to sum over some nodes: nodes that add less than ``floor`` may be dropped."""

    link: str
    floor: float
    recompute: bool

    def sum(
        self, units: SmoothUnits, bias: Tensor, t: Tensor, weights: Tensor
    ) -> tuple[Tensor, Tensor, float]:
        """Sum nodes ``t`` (B, 1) by every column of ``weights`` (B, C): shape (C, R).

        Also return what dropped nodes may have added, and the work in elements.
        """
        n_units, n_rows = units.mean.shape
        decay = known_decay(t, units.sigma, self.link)
        re = torch.ones((len(t), n_rows), dtype=bias.dtype, device=bias.device)
        im = torch.zeros_like(re)
        dropped = torch.zeros(n_rows, dtype=bias.dtype, device=bias.device)
        start, size, work = 0, min(_FIRST, n_units), 0.0
        points = units.n_points(float(t.max()))
        while start < n_units and len(t):
            part = units.some(slice(start, start + size))
            re, im = _times(re, im, *_product(part, t, recompute=self.recompute))
            start, work = start + size, work + _work(len(part.mean), len(t), points)
            if start < n_units:
                keep, bound = self._matter(decay, weights, re, im, units.unit_error * start)
                dropped = dropped + bound[~keep].sum(0)
                t, decay, weights, re, im = t[keep], decay[keep], weights[keep], re[keep], im[keep]
            # Without a gradient the product keeps to the cache by itself.
            most = int(_ELEMENTS / (max(len(t), n_rows) * points)) if units.tracked else 4 * size
            size = max(1, most)
            if size < n_units - start <= 2 * size and not units.tracked:
                size = n_units - start  # what a third table costs, dropped nodes seldom save
        phase = bias * t
        value = decay * (im * torch.cos(phase) + re * torch.sin(phase))
        return weights.mT @ value, dropped, work

    @torch.no_grad()
    def _matter(
        self, decay: Tensor, weights: Tensor, re: Tensor, im: Tensor, error: float
    ) -> tuple[Tensor, Tensor]:
        """Tell which nodes may add more than ``floor``, and what each may add."""
        most = decay * weights.amax(1, keepdim=True) / math.pi
        bound = most * (torch.hypot(re, im) + error)
        return bound.amax(1) > self.floor, bound


def _product(units: SmoothUnits, t: Tensor, *, recompute: bool) -> tuple[Tensor, Tensor]:
    """Return the product of the units' factors, maybe again in the backward pass."""
    arguments = (units.mean, units.scale, units.weight)
    if not (recompute and units.tracked):
        return units.characteristic(t)

    def product(mean: Tensor, scale: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        return SmoothUnits(mean, scale, weight, units.sigma, units.activation).characteristic(t)

    result: tuple[Tensor, Tensor] = checkpoint(product, *arguments, use_reentrant=False)
    return result


def _times(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    return torch.addcmul(a * c, b, d, value=-1.0), torch.addcmul(a * d, b, c)
