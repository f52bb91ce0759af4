r"""One hidden layer of smooth units (tanh, SiLU): the same three quantities, by quadrature.

Unit ``j`` is :math:`h_j = a(y)` with :math:`y \sim N(\mu_j, s^2)`. Substituting
:math:`y = c \sinh x` puts nodes where ``a`` bends, near 0, and spreads them far from
it, so that their number grows only with :math:`\log s`; the midpoint rule in ``x``
converges exponentially because everything is analytic around the real axis.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from fairsmooth.core.architecture import ACTIVATIONS
from fairsmooth.core.smoothing.faddeeva import complex_product

# Scale c of the substitution, and the number of standard deviations integrated over.
_BEND = 2.0
_REACH = 6.6
# Step in x that resolves the nearest pole of the activation.
_POLE_STEP = 0.2


@dataclass(frozen=True)
class QuadratureUnits:
    """The random terms of ``J`` units for ``R`` rows; fields as in ``ReluUnits``.

    Parameters
    ----------
    mean : Tensor of shape (J, R)
    scale : Tensor of shape (R,)
    weight : Tensor of shape (J, 1) or (J, R)
    sigma : float
    activation : {"relu", "tanh", "silu"}
        ``a``; the closed form of ``ReluUnits`` is faster and sharper for "relu".
    """

    mean: Tensor
    scale: Tensor
    weight: Tensor
    sigma: float
    activation: str

    @property
    def width(self) -> Tensor:
        """Scale of the units' values, shape (R,); that of tanh never exceeds 1."""
        return self.scale.clamp_max(1.0) if self.activation == "tanh" else self.scale

    def take(self, rows: Tensor) -> "QuadratureUnits":
        """Return the same units for a choice of rows."""
        weight = self.weight if self.weight.shape[1] == 1 else self.weight[:, rows]
        return replace(self, mean=self.mean[:, rows], scale=self.scale[rows], weight=weight)

    def narrow(self, start: int, length: int) -> "QuadratureUnits":
        """Return the same units for consecutive rows, without copying."""
        weight = self.weight
        if weight.shape[1] > 1:
            weight = weight.narrow(1, start, length)
        scale = self.scale.narrow(0, start, length)
        return replace(self, mean=self.mean.narrow(1, start, length), scale=scale, weight=weight)

    def moments(self) -> tuple[Tensor, Tensor]:
        """Return the mean and the variance of the sum of the terms, each of shape (R,)."""
        first = torch.zeros_like(self.mean)
        second = torch.zeros_like(self.mean)
        for value, share in self._points(torch.zeros_like(self.scale)):
            first = first + share * value
            second = second + share * value.square()
        spread = (second - first.square()).clamp_min(0.0)
        variance = self.weight.square() * spread + self.sigma**2 * second
        return (self.weight * first).sum(0), variance.sum(0)

    def log_exponential_moment(self, theta: Tensor) -> Tensor:
        r"""Return :math:`\log E \exp(\theta \sum_j h_j(v_j + \sigma g_j))`, shape (R,)."""
        largest = self.weight.new_full((), -math.inf).expand_as(self.mean)
        total = torch.zeros_like(self.mean)
        for value, share in self._points(theta):
            exponent = theta * self.weight * value + 0.5 * (theta * self.sigma * value).square()
            new = torch.maximum(largest, exponent)
            total = total * torch.exp(largest - new) + share * torch.exp(exponent - new)
            largest = new
        return (largest + total.clamp_min(1e-300).log()).sum(0)

    def characteristic(self, t: Tensor) -> tuple[Tensor, Tensor]:
        r"""Return :math:`\prod_j E \exp(i t v_j h_j - \sigma^2 t^2 h_j^2/2)`, for ``t`` (B, R)."""
        shape = (self.mean.shape[0], *t.shape)
        re, im = self.mean.new_zeros(shape), self.mean.new_zeros(shape)
        tilt, damp = self.weight.unsqueeze(1) * t, self.sigma * t
        for value, share in self._points(t):
            level = value.unsqueeze(1)
            size = share.unsqueeze(1) * torch.exp(-0.5 * (damp * level).square())
            phase = tilt * level
            re = torch.addcmul(re, size, torch.cos(phase))
            im = torch.addcmul(im, size, torch.sin(phase))
        return complex_product(re, im)

    def _points(self, t: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield ``(a(y_q), weight_q)`` per node, each of shape (J, R), fine enough for ``t``."""
        activation = ACTIVATIONS[self.activation]
        with torch.no_grad():
            low = torch.asinh((self.mean - _REACH * self.scale) / _BEND)
            width = torch.asinh((self.mean + _REACH * self.scale) / _BEND) - low
            n_points = self._n_points(t, width)
            width = width / n_points
        for index in range(n_points):
            with torch.no_grad():
                x = low + (index + 0.5) * width
                y = _BEND * torch.sinh(x)
                measure = width * _BEND * torch.cosh(x) / math.sqrt(2.0 * math.pi)
                value = activation(y)
            score = (y - self.mean) / self.scale
            yield value, measure / self.scale * torch.exp(-0.5 * score.square())

    def _n_points(self, t: Tensor, width: Tensor) -> int:
        """Number of nodes that resolves poles, Gaussian and oscillation of every unit."""
        if width.numel() == 0:
            return 1
        largest = t.abs().reshape(-1, t.shape[-1]).amax(0)
        frequency = largest * (self.weight.abs() + self.sigma)
        narrow = 6.8 / self.scale
        # The spacing in y grows with |y|: three standard deviations out the density needs
        # no more, but the phase of an activation that keeps rising turns up to the end.
        waves = narrow * self._stretch(3.0)
        bends = (narrow + frequency) * (self._stretch(6.0) if self.activation == "silu" else _BEND)
        poles = (1.25 + 0.12 * frequency) / _POLE_STEP
        waves = torch.maximum(waves, bends) / (2.0 * math.pi)
        return math.ceil(float((width * torch.maximum(waves, poles)).max()))

    def _stretch(self, deviations: float) -> Tensor:
        return (_BEND**2 + (self.mean.abs() + deviations * self.scale).square()).sqrt()
