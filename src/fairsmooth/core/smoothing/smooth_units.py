r"""One hidden layer of smooth units (tanh, SiLU): moments and characteristic function by rules.

Unit ``j`` is :math:`h_j = a(y)` with :math:`y \sim N(\mu_j, s^2)`. Where ``s`` is small, nodes
follow the Gaussian. Otherwise they are fixed where ``a`` bends, the same for all rows and
units, so that summing over them is a matrix product; beyond them tanh is ±1 and SiLU is 0 or
the identity, whose expectations are closed form. Either way the work does not grow with ``s``.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from fairsmooth.core.architecture import ACTIVATIONS
from fairsmooth.core.smoothing import rules
from fairsmooth.core.smoothing.chernoff import Bounds
from fairsmooth.core.smoothing.column_bounds import silu_reach, tanh_bounds
from fairsmooth.core.smoothing.faddeeva import complex_product, scaled_erfc
from fairsmooth.core.smoothing.grids import fitted_grid
from fairsmooth.core.smoothing.inversion import last_end, rest_bound
from fairsmooth.core.smoothing.linear import normal_cdf
from fairsmooth.core.smoothing.relu import ReluUnits
from fairsmooth.core.smoothing.unit_laws import factor_product
from fairsmooth.core.smoothing.unit_sums import node_sum, table_sum

# SiLU lies at most this far below ReLU, and its least value is as far below 0.
_DIP = 0.27847
# Largest slope of either activation, and half of the largest curvature of each.
_SLOPE = 1.1
_CURVATURE = {"tanh": 0.385, "silu": 0.25}
# Rows from which on a table for all of them pays.
_FEW_ROWS = 16
# Nodes on a common grid, per node of the integral, that cost as much as nodes of one's own.
_MOST_NODES = 30
# Units times standard deviations between laws, beyond which nodes common to all are too many.
_SCATTERED = 1 << 16
# Thresholds of the envelope, in standard deviations from the mean.
_LEVELS = (-2.5, -1.5, -0.75, -0.25, 0.25, 0.75, 1.5)
# Halvings, on a logarithmic scale, of the interval in which the range is sought.
_HALVINGS = 7


@dataclass(frozen=True)
class SmoothUnits:
    """The random terms of ``J`` units for ``R`` rows; fields as in ``ReluUnits``.

    Rows are all wide (scale at least ``rules.WIDE``) or all narrow.

    Parameters
    ----------
    mean : Tensor of shape (J, R)
    scale : Tensor of shape (R,)
    weight : Tensor of shape (J, 1)
    sigma : float
    activation : {"tanh", "silu"}
    """

    mean: Tensor
    scale: Tensor
    weight: Tensor
    sigma: float
    activation: str

    @property
    def unit_error(self) -> float:
        """Bound on the error of one unit's factor; beyond SiLU's grid that of ReLU's adds."""
        return rules.UNIT_ERROR + (1.2e-10 if self.activation == "silu" else 0.0)

    @cached_property
    def wide(self) -> bool:
        """Tell whether the nodes are fixed where the activation bends."""
        return bool((self.scale >= rules.WIDE).all())

    @cached_property
    def scattered(self) -> bool:
        """Tell whether laws are so narrow, for how far apart they are, that none share nodes."""
        mean, least = self.mean.detach(), float(self.scale.detach().min())
        span = float(mean.max()) - float(mean.min())
        return not self.wide and len(mean) * span > _SCATTERED * least

    def take(self, rows: Tensor) -> "SmoothUnits":
        """Return the same units for a choice of rows."""
        return replace(self, mean=self.mean[:, rows], scale=self.scale[rows])

    def narrow(self, start: int, length: int) -> "SmoothUnits":
        """Return the same units for consecutive rows, without copying."""
        scale = self.scale.narrow(0, start, length)
        return replace(self, mean=self.mean.narrow(1, start, length), scale=scale)

    def some(self, units: slice) -> "SmoothUnits":
        """Return some of the units for the same rows."""
        return replace(self, mean=self.mean[units], weight=self.weight[units])

    def bounds(self, link: str, tail: float, truncation: float) -> Bounds:
        """Return exponential moments at good parameters, and a range proven to be enough."""
        if self.activation == "tanh":
            return tanh_bounds(self, link, tail, truncation)
        relu = self._as_relu()
        variance = relu.variance() + self.sigma**2
        theta = relu.best_theta(variance, link, tail)
        up, down = self.log_exponential_moment(torch.stack([theta, -theta])).unsqueeze(1)
        guess = relu.reach(variance, link, truncation)
        reach = silu_reach(self, guess, link, truncation) or self.reach(link, truncation)
        return Bounds(theta.unsqueeze(0), up, down, *reach)

    def log_exponential_moment(self, theta: Tensor) -> Tensor:
        r"""Return an upper bound on :math:`\log E \exp(\theta \sum_j h_j(v_j + \sigma g_j))`.

        That of concentration, the best where pre-activations hardly vary; for SiLU also that
        of ReLU, from which it lies at most 0.279 away.
        ``theta`` has the shape (..., R), and so has the result.
        """
        relu, theta = self._as_relu().log_exponential_moment, theta.unsqueeze(-2)
        tilt, q = theta * self.weight, 0.5 * (theta * self.sigma).square()
        concentrated = self._concentrated(tilt, q).sum(-2)
        if self.activation == "tanh":
            return concentrated
        extra = _DIP * (-tilt).clamp_min(0.0) + _DIP**2 * q
        return torch.minimum(relu(theta.squeeze(-2)) + extra.sum(-2), concentrated)

    def _concentrated(self, tilt: Tensor, q: Tensor) -> Tensor:
        r"""Bound :math:`\log E e^{\lambda h + qh^2}` by concentration of Lipschitz functions.

        A unit has slope at most 1.1, so :math:`D = h - E h` is sub-Gaussian with variance
        :math:`c = (1.1 s)^2`, and curvature at most ½, so its mean is within :math:`s^2/4` of
        :math:`a(\mu)`. With :math:`e^{qD^2} = E_g e^{\sqrt{2q}gD}` and
        :math:`\lambda' = |\lambda| + 2q|E h|` this gives
        :math:`\lambda E h + q(E h)^2 + \lambda'^2c/2(1 - 2qc) - \frac12\log(1 - 2qc)`.
        """
        c = (_SLOPE * self.scale).square()
        left = (1.0 - 2.0 * q * c).clamp_min(0.0)
        curve = _CURVATURE[self.activation] * self.scale.square()
        value = ACTIVATIONS[self.activation](self.mean)
        mean = value.abs() + curve
        pull = tilt.abs() + 2.0 * q * mean
        centre = tilt * value + tilt.abs() * curve + q * mean.square()
        bound = centre + 0.5 * (pull.square() * c / left - torch.log(left))
        return bound.nan_to_num(math.inf)

    def log_envelope(self, t: Tensor) -> Tensor:
        r"""Bound :math:`\sum_j\log E e^{-\sigma^2t^2h_j^2/2}`, falling in ``t`` of shape (R,).

        With thresholds :math:`\eta_1 < \eta_2 < \dots` the expectation is at most
        :math:`1 - \sum_i P(|h| \ge \eta_i)(e^{-c\eta_{i-1}^2} - e^{-c\eta_i^2})`.
        """
        c = 0.5 * (self.sigma * t).square()
        none, shares, squares = self._thresholds
        return (none + (shares * torch.exp(-c * squares)).sum(0)).clamp_min(1e-300).log().sum(0)

    def reach(self, link: str, truncation: float) -> tuple[Tensor, Tensor]:
        """Return where what lies beyond is proven to be below half of ``truncation``, and it."""
        high = torch.full_like(self.scale, last_end(self.sigma, link))
        # Where no unit's noise has grown to much yet, it cannot be enough.
        low = torch.full_like(self.scale, 0.02 / (self.sigma * self.mean.shape[0] ** 0.5))
        low = (low / (1.0 + self.mean.abs().amax(0) + self.scale)).minimum(0.1 * high)
        most = rest_bound(self.log_envelope(high), high, self.sigma, link)
        for _ in range(_HALVINGS):
            middle = (low * high).sqrt()
            rest = rest_bound(self.log_envelope(middle), middle, self.sigma, link)
            enough = rest < 0.5 * truncation
            low, high = torch.where(enough, low, middle), torch.where(enough, middle, high)
            most = torch.where(enough, rest, most)
        return high, most

    def n_points(self, t: float) -> float:
        """Return how many nodes the rule for ``t`` has."""
        scale = self.scale.detach()
        return rules.n_points(self._demand(t), float(scale.min()), float(scale.max()))

    def characteristic(self, t: Tensor) -> tuple[Tensor, Tensor]:
        """Return the product of all factors at ``t`` of shape (B, 1), real and imaginary part."""
        if not (self.tracked or self.scattered) and self.mean.shape[1] >= _FEW_ROWS:
            demand = self._demand(float(t.abs().max()))
            grid = fitted_grid(demand, self.mean, self.scale)
            if self.wide or len(grid.points) <= _MOST_NODES * len(t):
                return factor_product(self, t, grid)
        return complex_product(*self.factors(t))

    def factors(self, t: Tensor) -> tuple[Tensor, Tensor]:
        r"""Return all :math:`\varphi_j(t)`, shape (J, B, R), for ``t`` of shape (B, 1)."""
        demand = self._demand(float(t.abs().max()))
        return self._fixed_nodes(t, demand) if self.wide else self._gaussian_nodes(t, demand)

    def _demand(self, t: float) -> rules.Demand:
        largest = float(self.weight.detach().abs().max())
        return rules.Demand(self.activation, t * largest, t * self.sigma)

    def _as_relu(self) -> ReluUnits:
        return ReluUnits(self.mean, self.scale, self.weight, self.sigma)

    def _gaussian_nodes(self, t: Tensor, demand: rules.Demand) -> tuple[Tensor, Tensor]:
        nodes, shares = rules.gaussian_grid(demand, float(self.scale.detach().max()), self.mean)
        points = self.mean + self.scale * nodes.reshape(-1, 1, 1)
        values = ACTIVATIONS[self.activation](points)
        return node_sum(self.weight, t, values, shares, self.sigma)

    def _fixed_nodes(self, t: Tensor, demand: rules.Demand) -> tuple[Tensor, Tensor]:
        values, shares = self._fixed_rule(demand)
        re, im = table_sum(self.weight, t, values, shares, self.sigma)
        if self.activation == "tanh":
            return re, im
        beyond_re, beyond_im = self.identity_part(t, demand.switch)
        return re + beyond_re, im + beyond_im

    def _fixed_rule(self, demand: rules.Demand) -> tuple[Tensor, Tensor]:
        """Return values (Q,) of the units, and their shares (J, R, Q) for every unit and row."""
        y, step = rules.grid(demand, float(self.scale.detach().min()), self.mean)
        score = (y - self.mean.unsqueeze(-1)) / self.scale.unsqueeze(-1)
        density = step / math.sqrt(2.0 * math.pi) / self.scale.unsqueeze(-1)
        shares = density * torch.exp(-0.5 * score.square())
        value = ACTIVATIONS[self.activation](y)
        blurred = self.mean / torch.hypot(self.scale, torch.full_like(self.scale, rules.SWITCH))
        below = normal_cdf(-blurred) - shares @ normal_cdf(-y / rules.SWITCH)
        if self.activation == "silu":
            inner = shares * normal_cdf((demand.switch - y) / rules.SWITCH)
            ends, atoms = [0.0], [inner, below.unsqueeze(-1)]
        else:
            above = normal_cdf(blurred) - shares @ normal_cdf(y / rules.SWITCH)
            ends, atoms = [-1.0, 1.0], [shares, below.unsqueeze(-1), above.unsqueeze(-1)]
        return torch.cat([value, value.new_tensor(ends)]), torch.cat(atoms, -1)

    def identity_part(self, t: Tensor, switch: float) -> tuple[Tensor, Tensor]:
        r"""Return :math:`E\,e^{itvy - \sigma^2t^2y^2/2}\,\Phi((y - b)/w)`, shape (J, B, R).

        A Gaussian integral: half of erfc at a complex argument ``z``, whose exponent joins the
        one in front and is never positive.
        """
        width = rules.SWITCH**2
        mean, weight = self.mean.unsqueeze(1), self.weight.unsqueeze(1)
        shrink = 1.0 / (1.0 + (self.sigma * self.scale * t).square())
        spread = self.scale.square() * shrink
        share = width / (width + spread)
        root = (2.0 * (width + spread)).rsqrt()
        z_re, z_im = (switch - mean * shrink) * root, weight * (-spread * t * root)
        far = z_re.detach() < 0
        sign = torch.where(far, -1.0, 1.0).to(z_re.dtype)
        value_re, value_im = scaled_erfc(sign * z_re, sign * z_im)
        damp = 0.5 * shrink * (self.sigma * t * mean).square()
        turn = 0.5 * spread * (t * weight).square()
        edge = 0.5 * sign * shrink.sqrt() * torch.exp(-damp - turn * share - z_re.square())
        phase = t * weight * (share * shrink * mean + switch * (1.0 - share))
        cos, sin = edge * torch.cos(phase), edge * torch.sin(phase)
        re, im = cos * value_re - sin * value_im, cos * value_im + sin * value_re
        whole = torch.where(far, shrink.sqrt() * torch.exp(-damp - turn), 0.0)
        angle = t * weight * mean * shrink
        return re + whole * torch.cos(angle), im + whole * torch.sin(angle)

    @property
    def tracked(self) -> bool:
        """Tell whether a gradient is wanted."""
        inputs = (self.mean, self.scale, self.weight)
        return torch.is_grad_enabled() and any(part.requires_grad for part in inputs)

    @cached_property
    def _thresholds(self) -> tuple[Tensor, Tensor, Tensor]:
        """Chance to stay below all thresholds, to lie between two (L, J, R), and their squares."""
        centre = self.mean.abs() if self.activation == "tanh" else self.mean
        levels = torch.tensor(_LEVELS, dtype=centre.dtype, device=centre.device)
        cuts = (centre + levels.reshape(-1, 1, 1) * self.scale).clamp_min(0.0)
        chances = normal_cdf((centre - cuts) / self.scale)
        if self.activation == "tanh":
            chances = chances + normal_cdf(-(centre + cuts) / self.scale)
        between = torch.cat([chances[:-1] - chances[1:], chances[-1:]]).clamp_min(0.0)
        return 1.0 - chances[0], between, ACTIVATIONS[self.activation](cuts).square()
