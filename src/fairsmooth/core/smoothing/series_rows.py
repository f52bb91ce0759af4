"""The midpoint rule for many rows of ReLU layers: rows of similar scale share nodes in ``s·t``."""

import math

import torch
from torch import Tensor

from fairsmooth.core.smoothing.inversion import known_decay
from fairsmooth.core.smoothing.plan import Accuracy, Plan
from fairsmooth.core.smoothing.relu import ReluUnits
from fairsmooth.core.smoothing.relu_series import MOST_RATIO, ReluSeries
from fairsmooth.core.smoothing.shared import alike

# Rows from which on series may pay, and rows of similar scale that share them.
MANY_ROWS, _LEAST = 1024, 256
# Units from which on series pay.
_FEW_UNITS = 8
# Scales, and steps, that are alike.
_SCALES, _STEPS = 1.3, 1.2
# Nodes at a time, and in all, beyond which rows are better integrated on their own.
_BLOCK, _MOST_NODES = 64, 512


def allowed_error(accuracy: Accuracy) -> float:
    """Return the claimed error from which on a row is integrated on its own instead."""
    return 1.2 * (math.exp(-accuracy.tail) + 2.0 * accuracy.truncation)


def series_of_rows(units: ReluUnits, accuracy: Accuracy) -> list[tuple[Tensor, ReluSeries]]:
    """Return series for the rows that they serve well, with the rows' positions.

    None where a gradient is asked for, which series do not carry.
    """
    n_units, n_rows = units.mean.shape
    several = units.weight.shape[1] > 1 or accuracy.finer != 1.0
    if units.tracked or several or n_rows < MANY_ROWS or n_units < _FEW_UNITS:
        return []
    usual = torch.nonzero(units.mean.amax(0) <= MOST_RATIO * units.scale).squeeze(1)
    usual = usual[torch.argsort(units.scale[usual])]
    scale, pairs = units.scale[usual], []
    for start, length in alike(scale, scale <= 0, most=n_rows, ratio=_SCALES):
        rows = usual[start : start + length]
        series = ReluSeries.fitted(units.take(rows)) if length >= _LEAST else None
        if series is not None:
            pairs.append((rows, series))
    return pairs


@torch.no_grad()
def integrate_series(
    series: ReluSeries, bias: Tensor, plan: Plan, link: str
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the integral, what was left out of it, and the nodes taken, for every row.

    Rows that are better integrated on their own are given as unknown.
    """
    step, reach = plan.step * series.scale, plan.reach * series.scale
    step = torch.where(plan.saturated, math.inf, step.nan_to_num(0.0))
    order = torch.argsort(step)
    total, nodes = torch.zeros_like(bias), torch.zeros_like(bias)
    left_out = torch.where(plan.saturated, 0.0, 1.0).to(bias)
    for start, length in alike(step[order], plan.saturated[order], most=len(bias), ratio=_STEPS):
        rows = order[start : start + length]
        least, most = float(step[rows[0]]), float(reach[rows].max())
        if not (0.0 < least < math.inf and most <= _MOST_NODES * least):
            continue
        if length < 2 * series.spans.degree:
            continue
        last = max(1, math.ceil(most / least))
        total[rows] = _sum(series.take(rows), bias[rows], least, last, link)
        left_out[rows], nodes[rows] = plan.rest[rows], float(last)
    return total, left_out, nodes


def _sum(series: ReluSeries, bias: Tensor, step: float, last: int, link: str) -> Tensor:
    total = torch.zeros_like(bias)
    for first in range(0, last, _BLOCK):
        halves = torch.arange(first, min(first + _BLOCK, last)).to(bias) + 0.5
        re, im = series.characteristic(step * halves)
        t = step * halves.unsqueeze(1) / series.scale
        phase = bias * t
        value = known_decay(t, series.sigma, link) * (im * torch.cos(phase) + re * torch.sin(phase))
        total += (1.0 / halves) @ value
    return total
