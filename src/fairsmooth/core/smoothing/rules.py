r"""Quadrature rules for the law of one smooth unit, with proven errors.

The trapezoid rule with step :math:`\delta` errs by at most
:math:`2M/(e^{2\pi d/\delta} - 1)` when the integrand is analytic in the strip
:math:`|\mathrm{Im}\,y| \le d` and its integral along each line there is at most ``M``. Here
the integrand is a Gaussian density, which grows by :math:`e^{d^2/2s^2}`, times
:math:`F(a(y))`, :math:`F(h) = \exp(itvh - \sigma^2t^2h^2/2)`, which grows by
:math:`\exp(t|v|I + \sigma^2t^2I^2/2)` with ``I`` the largest :math:`|\mathrm{Im}\,a|` in the strip:
:math:`\tan d` for tanh, at most :math:`1.34\,d` for SiLU. ``docs/smoothing.md`` has the proof.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

# Error of one unit's factor by the step, and about as much again by what is cut off.
PRECISION = 1e-11
UNIT_ERROR = 3e-11
# Width of the smooth switch between the grid and what is known in closed form beyond it.
SWITCH = 1.5
# Standard deviations after which a switch or a density is cut: 2Φ(-7.2) = 6e-13.
CUT = 7.2
# From this scale of the pre-activation on, the grid is in y and shared by rows and units.
WIDE = 0.25

STRIPS = {
    "tanh": (0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 1.05, 1.2),
    "silu": (0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.25, 1.5),
}


@dataclass(frozen=True)
class Demand:
    r"""What a rule must resolve, for the largest ``t`` and all units and rows it serves.

    Parameters
    ----------
    activation : {"tanh", "silu"}
    frequency : float
        Largest :math:`t|v_j|`.
    damping : float
        Largest :math:`\sigma t`.
    """

    activation: str
    frequency: float
    damping: float

    def step(self, scale: float, *, unit: float) -> float:
        """Return the widest proven step, as a multiple of ``unit``, for a Gaussian of ``scale``."""
        steps = []
        for d in strips(self.activation, scale):
            growth = imaginary(self.activation, d)
            exponent = math.log(10.0 / PRECISION) + 0.5 * (d / scale) ** 2
            exponent += self.frequency * growth + 0.5 * (self.damping * growth) ** 2
            steps.append(2.0 * math.pi * d / exponent)
        return max(steps) / unit

    @property
    def _change(self) -> float:
        """Bound on how fast ``F`` changes with the unit's value, near the values cut."""
        return 1.0 + self.frequency + 60.0 * self.damping**2

    @property
    def left(self) -> float:
        """Where the grid in ``y`` may end on the left."""
        if self.activation == "tanh":
            return -max(11.0, 0.5 * math.log(16.0 * self._change / PRECISION))
        return -math.log(4.0 * 60.0 * self._change / PRECISION)

    @property
    def switch(self) -> float:
        """Where SiLU hands over to the identity."""
        return -self.left + CUT * SWITCH

    @property
    def right(self) -> float:
        """Where the grid in ``y`` may end on the right."""
        return -self.left if self.activation == "tanh" else self.switch + CUT * SWITCH


def strips(activation: str, scale: float) -> tuple[float, ...]:
    """Return heights of strips to try: known ones, and a narrow law's own, where it grows by 1e12.

    In any higher one its density grows so much that the step would fall with the scale's square.
    """
    known = STRIPS[activation]
    own = scale * math.sqrt(2.0 * math.log(10.0 / PRECISION))
    return known if own >= known[0] else (own, *known)


def n_points(demand: Demand, scale: float, widest: float) -> float:
    """Return how many nodes a rule takes for scales from ``scale`` to ``widest``."""
    if scale >= WIDE:
        return (demand.right - demand.left) / demand.step(scale, unit=1.0)
    return 2.0 * CUT / demand.step(widest, unit=widest)


def grid(demand: Demand, scale: float, like: Tensor) -> tuple[Tensor, float]:
    """Return nodes in ``y`` and their step, for Gaussians no narrower than ``scale``."""
    step = demand.step(scale, unit=1.0)
    first, last = math.floor(demand.left / step), math.ceil(demand.right / step)
    return step * (torch.arange(first, last).to(like) + 0.5), step


def gaussian_grid(demand: Demand, widest: float, like: Tensor) -> tuple[Tensor, Tensor]:
    """Return nodes and weights for a standard normal times at most ``widest``."""
    step = demand.step(widest, unit=widest)
    half = math.ceil(CUT / step)
    nodes = step * (torch.arange(-half, half).to(like) + 0.5)
    return nodes, step / math.sqrt(2.0 * math.pi) * torch.exp(-0.5 * nodes.square())


def imaginary(activation: str, d: float) -> float:
    """Bound the activation's imaginary part for arguments whose own is at most ``d``."""
    return math.tan(d) if activation == "tanh" else 1.34 * d
