r"""Laws of smooth units on nodes shared by rows: matrix products that stay in the cache.

Row ``r`` of unit ``j`` has the density :math:`n(y_q; \mu_{jr}, s_r)` at point ``q`` of a common
grid, so that expectations of functions of the units, for all rows at once, are the
densities times one table per unit. Where the grid ends before a law does, what the function
becomes beyond is subtracted in the table, switched on smoothly, and added in closed form.
Nothing here carries a gradient.
"""

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from fairsmooth.core.architecture import ACTIVATIONS
from fairsmooth.core.smoothing import rules
from fairsmooth.core.smoothing.faddeeva import complex_product
from fairsmooth.core.smoothing.grids import Grid
from fairsmooth.core.smoothing.linear import normal_cdf
from fairsmooth.core.smoothing.unit_sums import wave

if TYPE_CHECKING:
    from fairsmooth.core.smoothing.smooth_units import SmoothUnits

# Elements worked on at once: of tables (unit, node, point) and of densities (unit, row, point).
_ELEMENTS = 1 << 16
# Rows worked on at once.
_ROWS = 256
# Values of the units to the left and to the right of a grid that ends; SiLU has none there.
_ENDS = {"tanh": (-1.0, 1.0), "silu": (0.0, 0.0)}


def factor_product(units: "SmoothUnits", t: Tensor, grid: Grid) -> tuple[Tensor, Tensor]:
    """Return the product of all factors at ``t`` (B, 1), real and imaginary part (B, R)."""
    n_units, n_rows = units.mean.shape
    re = torch.ones((len(t), n_rows), dtype=t.dtype, device=t.device)
    im = torch.zeros_like(re)
    size = max(1, _ELEMENTS // (max(_ROWS, 2 * len(t)) * len(grid.points)))
    for start in range(0, n_units, size):
        part = units.some(slice(start, start + size))
        table = _waves(part, t, grid)
        for first in range(0, n_rows, _ROWS):
            some = part.narrow(first, min(_ROWS, n_rows - first))
            columns = torch.bmm(table, densities(some.mean, some.scale, grid).mT)
            if grid.ends and units.activation == "silu":
                columns += torch.cat(some.identity_part(t, 0.0), 1)
            rows = slice(first, first + _ROWS)
            more = complex_product(columns[:, : len(t)], columns[:, len(t) :])
            _multiply_by(re[:, rows], im[:, rows], *more)
    return re, im


def _multiply_by(re: Tensor, im: Tensor, c: Tensor, d: Tensor) -> None:
    turned = torch.addcmul(re * d, im, c)
    re.mul_(c).addcmul_(im, d, value=-1.0)
    im.copy_(turned)


def densities(mean: Tensor, scale: Tensor, grid: Grid) -> Tensor:
    """Return the units' densities at the points, shape (J, R, P).

    Of a grid that ends, two more entries are the chances to lie left and right of 0, after a
    smooth switch.
    """
    n_points, inverse = len(grid.points), math.sqrt(0.5) / scale
    height = -torch.log(math.sqrt(2.0 * math.pi) * scale).unsqueeze(1)
    block = mean.new_empty((*mean.shape, n_points + 2 * grid.ends))
    inner = block[..., :n_points]
    places = grid.points * inverse.unsqueeze(1)
    torch.sub(places, (mean * inverse).unsqueeze(-1), out=inner)
    torch.sub(height, inner.square_(), out=inner)
    inner.exp_()
    if grid.ends:
        blurred = mean / torch.hypot(scale, torch.full_like(scale, rules.SWITCH))
        block[..., n_points] = normal_cdf(-blurred)
        block[..., n_points + 1] = normal_cdf(blurred)
    return block


def less_ends(table: Tensor, grid: Grid) -> Tensor:
    """Sum columns (..., Q + 2) onto the points, without their last two: the limits, switched on.

    The result has the shape (..., P + 2), or (..., P) for a grid that does not end.
    """
    inner, limits = table[..., :-2], table[..., -2:]
    if not grid.ends:
        return grid.weights(inner)
    below, above = _switches(grid)
    inner.addcmul_(limits[..., :1], below, value=-1.0)
    inner.addcmul_(limits[..., 1:], above, value=-1.0)
    return torch.cat([grid.weights(inner), limits], -1)


def _waves(units: "SmoothUnits", t: Tensor, grid: Grid) -> Tensor:
    r"""Return :math:`F(a(y))` less its limits, (J, 2B, P + 2): real parts, then imaginary ones."""
    values = ACTIVATIONS[units.activation](grid.fine)
    values = torch.cat([values, values.new_tensor(_ENDS[units.activation])])
    table = torch.cat(wave(units.weight, t, values, units.sigma), 1)
    if grid.ends and units.activation == "silu":
        identity = torch.cat(wave(units.weight, t, grid.fine, units.sigma), 1)
        table[..., :-2].addcmul_(identity, _switches(grid)[1], value=-1.0)
        table[..., -1] = 0.0
    return less_ends(table, grid)


def _switches(grid: Grid) -> tuple[Tensor, Tensor]:
    return normal_cdf(-grid.fine / rules.SWITCH), normal_cdf(grid.fine / rules.SWITCH)
