r"""Nodes in ``y`` shared by units and rows, for sums of a function times a Gaussian density.

The trapezoid rule must be as fine as the *function* asks, which depends on the unit and on
``t`` alone. The density is much smoother where the scale is large: its values on the fine nodes
follow from those at few points. Where the nodes cover all laws these may be equally spaced, and
cardinal sines interpolate; where they end before, they are Chebyshev points, with an error proven
by Bernstein's ellipse. So rows are evaluated at the points, and the function's table is summed
onto them beforehand.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import torch
from torch import Tensor

from fairsmooth.core.smoothing.rules import CUT, PRECISION, Demand

# Points that cost as much as the error function beyond SiLU's grid.
_SPARED = 200
# Points beyond the laws on either side, so that what densities have further out hardly counts.
_BEYOND = 1
# Entries of a matrix that interpolates by cardinal sines: narrow laws far apart need no such thing.
_MOST_ENTRIES = 1 << 20
# Nodes, and entries of a matrix from points to nodes, from which on rows have nodes of their own.
_MOST_FINE, _MOST_MATRIX = 1 << 16, 1 << 23
_ELLIPSES = (1.15, 1.25, 1.4, 1.6, 1.9, 2.3, 2.8, 3.5, 4.5, 6.0, 9.0)


@dataclass(frozen=True)
class Grid:
    """A trapezoid rule in ``y``, and the points at which densities are evaluated.

    Parameters
    ----------
    fine : Tensor of shape (Q,)
        Nodes of the trapezoid rule.
    points : Tensor of shape (P,)
        Points that represent a density.
    step : float
        Of the rule.
    interpolation : Tensor of shape (Q, P) or None
        What a density at the nodes takes of its values at the points; None if the two are the
        same.
    ends : bool
        Whether laws go on beyond the nodes.
    """

    fine: Tensor
    points: Tensor
    step: float
    interpolation: Tensor | None
    ends: bool

    def weights(self, table: Tensor) -> Tensor:
        """Return what functions (..., Q) weigh densities at the points with, (..., P)."""
        steps = self.step * table
        return steps if self.interpolation is None else steps @ self.interpolation


@dataclass(frozen=True)
class _Range:
    """Nodes of a rule; ``ends`` tells that laws of this scale, or wider ones, go on beyond."""

    left: float
    right: float
    step: float
    scale: float
    precision: float
    ends: bool

    @property
    def n_fine(self) -> int:
        return math.ceil((self.right - self.left) / self.step) + 2

    @property
    def degree(self) -> int:
        r"""Return the degree that interpolates every density of this scale, or a wider one.

        On the ellipse :math:`\rho` around an interval of half length ``L`` a density is at most
        :math:`e^{(L(\rho - 1/\rho)/2)^2/2s^2}/\sqrt{2\pi}s`, so that degree ``n`` errs by at most
        four times that over :math:`\rho^n(\rho - 1)`, times the integral of the function: 6L.
        """
        half = 0.5 * self.n_fine * self.step
        degrees = []
        for rho in _ELLIPSES:
            bound = 0.5 * (0.5 * half * (rho - 1.0 / rho) / self.scale) ** 2
            bound += math.log(4.0 * 3.0 * 2.0 * half / (2.5 * self.scale * (rho - 1.0)))
            degrees.append((bound - math.log(self.precision)) / math.log(rho))
        return max(2, math.ceil(min(degrees)))

    @property
    def spacing(self) -> float:
        r"""Return how far apart points may be for cardinal sines to interpolate every density.

        On the whole line they err by at most :math:`\frac1\pi\int_{|\omega| > \pi/\delta}
        |\hat n(\omega)|\,d\omega`, for a density of scale ``s`` at most
        :math:`1.6\,\Phi(-\pi s/\delta)/s`, times the integral of the function: 2L.
        """
        counted = 1.6 * self.n_fine * self.step / self.scale
        left_out = max(min(self.precision / counted, 0.1), 1e-300)
        return math.pi * self.scale / -NormalDist().inv_cdf(left_out)

    @property
    def n_even(self) -> int:
        return math.ceil((self.right - self.left) / self.spacing) + 1 + 2 * _BEYOND

    @property
    def even(self) -> bool:
        """Whether equally spaced points are the fewest: none may be missing where laws end."""
        few = not self.ends and self.n_even <= self.degree
        return few and self.n_even * self.n_fine <= _MOST_ENTRIES

    @property
    def n_points(self) -> int:
        return min(self.n_fine, self.n_even if self.even else self.degree + 1)

    @property
    def fits(self) -> bool:
        """Whether the nodes, and what interpolates to them, fit into little memory."""
        if not (self.right - self.left) / self.step < _MOST_FINE:
            return False
        return self.n_points == self.n_fine or self.n_fine * self.n_points < _MOST_MATRIX

    def grid(self, like: Tensor) -> Grid | None:
        if not self.fits:
            return None
        first = math.floor(self.left / self.step)
        fine = self.step * (torch.arange(first, first + self.n_fine).to(like) + 0.5)
        if self.n_fine <= self.n_points:
            return Grid(fine, fine, self.step, None, self.ends)
        if not self.even:
            points, polynomials = _interpolation(fine, self.degree)
            return Grid(fine, points, self.step, polynomials, self.ends)
        middle = 0.5 * (self.left + self.right)
        places = torch.arange(self.n_even).to(like) - 0.5 * (self.n_even - 1)
        points = middle + self.spacing * places
        sines = torch.sinc((fine.unsqueeze(1) - points) / self.spacing)
        return Grid(fine, points, self.step, sines, self.ends)


def fitted_grid(demand: Demand, mean: Tensor, scale: Tensor) -> Grid | None:
    """Return the grid that units of all these means and scales need, or None if it is too large.

    SiLU's ends before the laws do only if that saves more points than the error function
    beyond it costs.
    """
    step = demand.step(float(scale.min()), unit=1.0)
    spared = _SPARED if demand.activation == "silu" else 0
    ends = (demand.left, -demand.left)
    return grid_within(ends, step, mean, scale, spared=spared, precision=PRECISION)


def grid_within(
    ends: tuple[float, float],
    step: float,
    mean: Tensor,
    scale: Tensor,
    *,
    spared: int = 0,
    precision: float,
    cut: float = CUT,
) -> Grid | None:
    """Return nodes as far as the laws reach, ``cut`` standard deviations, or to the ends.

    None if they are too many: narrow laws far apart, or a function that turns fast.
    """
    low, high = (float(end) for end in mean.aminmax())
    least, widest = (float(end) for end in scale.aminmax())
    low, high = low - cut * widest, high + cut * widest
    if not (math.isfinite(high - low) and step > 0.0):
        return None
    whole = _Range(low, high, step, least, precision, ends=False)
    if low >= ends[0] and high <= ends[1]:
        return whole.grid(mean)
    left = min(max(low, ends[0]), ends[1])
    right = max(min(high, ends[1]), left)
    part = _Range(left, right, step, least, precision, ends=True)
    if not whole.fits:
        return part.grid(mean)
    if whole.n_points <= part.n_points + spared and whole.n_fine <= 4 * (part.n_fine + spared):
        return whole.grid(mean)
    return part.grid(mean)


def _interpolation(nodes: Tensor, degree: int) -> tuple[Tensor, Tensor]:
    """Return Chebyshev points around ``nodes`` and the matrix of their Lagrange polynomials."""
    low, high = float(nodes[0]), float(nodes[-1])
    angles = torch.arange(degree + 1).to(nodes) * (math.pi / degree)
    points = 0.5 * (low + high) - 0.5 * (high - low) * torch.cos(angles)
    signs = 1.0 - 2.0 * (torch.arange(degree + 1).to(nodes) % 2)
    signs[0] *= 0.5
    signs[-1] *= 0.5
    gaps = nodes.unsqueeze(1) - points
    hits = gaps == 0
    kernel = signs / torch.where(hits, 1.0, gaps)
    matrix = kernel / kernel.sum(1, keepdim=True)
    return points, torch.where(hits.any(1, keepdim=True), hits.to(nodes), matrix)
