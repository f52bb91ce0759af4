r"""Laws of smooth units on nodes shared by rows: matrix products that stay in the cache.

Row ``r`` of unit ``j`` has the density :math:`n(y_q; \mu_{jr}, s_r)` at point ``q`` of a common
grid, so that expectations of functions of the units, for all rows at once, are the
densities times one table per unit. Where the grid ends before a law does, what the function
becomes beyond is subtracted in the table, switched on smoothly, and added in closed form.
Nothing here carries a gradient.
"""

import math
from collections.abc import Iterator
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

# Elements (unit, row or node of the integral, node of the rule) worked on at once.
_ELEMENTS = 1 << 17
# Values of the units to the left and to the right of a grid that ends; SiLU has none there.
_ENDS = {"tanh": (-1.0, 1.0), "silu": (0.0, 0.0)}


def factor_product(units: "SmoothUnits", t: Tensor, grid: Grid) -> tuple[Tensor, Tensor]:
    """Return the product of all factors at ``t`` (B, 1), real and imaginary part (B, R)."""
    products = []
    for some, block in densities(units.mean, units.scale, grid, len(t)):
        part = units.some(some)
        parts = torch.bmm(_waves(part, t, grid), block.mT)
        re, im = parts[:, : len(t)], parts[:, len(t) :]
        if grid.ends and units.activation == "silu":
            beyond_re, beyond_im = part.identity_part(t, 0.0)
            re, im = beyond_re.add_(re), beyond_im.add_(im)
        products.append(torch.stack(complex_product(re, im)))
    re, im = complex_product(*torch.stack(products, 1))
    return re, im


def densities(
    mean: Tensor, scale: Tensor, grid: Grid, n_columns: int
) -> Iterator[tuple[slice, Tensor]]:
    """Yield some units with their densities (units, R, P), in an array that the next ones reuse.

    Of a grid that ends, two more entries are the chances to lie left and right of 0, after a
    smooth switch. ``n_columns`` is the size of what they will be multiplied by.
    """
    n_points = len(grid.points)
    n_units, n_rows = mean.shape
    size = min(n_units, max(1, _ELEMENTS // (max(n_rows, n_columns) * n_points)))
    inverse = math.sqrt(0.5) / scale
    places = grid.points * inverse.unsqueeze(1)
    height = -torch.log(math.sqrt(2.0 * math.pi) * scale).unsqueeze(1)
    buffer = mean.new_empty((size, n_rows, n_points + 2 * grid.ends))
    for start in range(0, n_units, size):
        some = slice(start, min(start + size, n_units))
        block = buffer[: some.stop - start]
        inner = block[..., :n_points]
        torch.sub(places, (mean[some] * inverse).unsqueeze(-1), out=inner)
        torch.sub(height, inner.square_(), out=inner)
        inner.exp_()
        if grid.ends:
            blurred = mean[some] / torch.hypot(scale, torch.full_like(scale, rules.SWITCH))
            block[..., n_points] = normal_cdf(-blurred)
            block[..., n_points + 1] = normal_cdf(blurred)
        yield some, block


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
