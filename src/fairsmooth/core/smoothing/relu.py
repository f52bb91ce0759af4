r"""One hidden layer of ReLU units: moments, exponential moments and characteristic function.

Given the input, unit ``j`` is :math:`h_j = \max(0, \mu_j + s\varepsilon_j)` and its
term of the logit is :math:`h_j (v_j + \sigma g_j)`, all :math:`\varepsilon_j, g_j`
independent standard normal. Everything below is closed form.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.special import ndtr

from fairsmooth.core.smoothing.faddeeva import complex_product, scaled_erfc

# Beyond this the Gaussian factor is 0 in float64; the bound keeps products finite.
_FAR = 1e4


@dataclass(frozen=True)
class ReluUnits:
    """The random terms of ``J`` units for ``R`` rows; units come first, rows last.

    Parameters
    ----------
    mean : Tensor of shape (J, R)
        Mean pre-activation of every unit.
    scale : Tensor of shape (R,)
        Standard deviation of the pre-activations, greater than 0.
    weight : Tensor of shape (J, 1) or (J, R)
        Mean output weight of every unit.
    sigma : float
        Standard deviation of the output weights.
    """

    mean: Tensor
    scale: Tensor
    weight: Tensor
    sigma: float
    activation: ClassVar[str] = "relu"

    @property
    def width(self) -> Tensor:
        """Scale of the units' values, shape (R,)."""
        return self.scale

    def take(self, rows: Tensor) -> "ReluUnits":
        """Return the same units for a choice of rows."""
        weight = self.weight if self.weight.shape[1] == 1 else self.weight[:, rows]
        return ReluUnits(self.mean[:, rows], self.scale[rows], weight, self.sigma)

    def narrow(self, start: int, length: int) -> "ReluUnits":
        """Return the same units for consecutive rows, without copying."""
        weight = self.weight
        if weight.shape[1] > 1:
            weight = weight.narrow(1, start, length)
        scale = self.scale.narrow(0, start, length)
        return ReluUnits(self.mean.narrow(1, start, length), scale, weight, self.sigma)

    def moments(self) -> tuple[Tensor, Tensor]:
        """Return the mean and the variance of the sum of the terms, each of shape (R,)."""
        ratio = self._ratio()
        active = ndtr(ratio)
        density = torch.exp(-0.5 * ratio.square()) / math.sqrt(2.0 * math.pi)
        first = self.mean * active + self.scale * density
        second = self.mean * first + self.scale.square() * active
        spread = (second - first.square()).clamp_min(0.0)
        variance = self.weight.square() * spread + self.sigma**2 * second
        return (self.weight * first).sum(0), variance.sum(0)

    def log_exponential_moment(self, theta: Tensor) -> Tensor:
        r"""Return an upper bound on :math:`\log E \exp(\theta \sum_j h_j(v_j + \sigma g_j))`.

        ``theta`` of shape (R,) must satisfy :math:`|\theta|\sigma s < 1`. The bound is
        off by less than 1e-4 per unit, and only where a unit hardly matters.
        """
        ratio, tilt = self._ratio(), theta * self.weight
        shrink = 1.0 - (theta * self.sigma * self.scale).square()
        exponent = (
            (self.sigma * theta * self.mean).square()
            + 2.0 * tilt * self.mean
            + (tilt * self.scale).square()
        ) / (2.0 * shrink)
        shift = (ratio + tilt * self.scale) / shrink.sqrt()
        # Far out, Φ(shift)·e^exponent is a tiny number times a huge one; there the two
        # exponents join to that of the density at 0, times Mills' ratio bounded by Birnbaum.
        far = shift < -5.0
        outer = torch.where(far, 0.0, exponent.clamp_min(0.0))
        near = ndtr(shift) * torch.exp(torch.where(far, 0.0, exponent - outer))
        away = 4.0 / ((shift.square() + 8.0).sqrt() - 3.0 * shift.clamp_max(-5.0))
        away = away * torch.exp(-0.5 * ratio.square()) / math.sqrt(2.0 * math.pi)
        active = torch.where(far, away, near) / shrink.sqrt()
        inner = ndtr(-ratio) * torch.exp(-outer) + active
        return (outer + inner.clamp_min(1e-300).log()).sum(0)

    def characteristic(self, t: Tensor) -> tuple[Tensor, Tensor]:
        r"""Return :math:`\prod_j \varphi_j(t)` at ``t`` of shape (B, R), real and imaginary part.

        With :math:`A = 1 + (\sigma s t)^2`, :math:`\alpha = |\mu_j|/(s\sqrt{2A})`,
        :math:`\beta = s t v_j/\sqrt{2A}` and :math:`E(z) = e^{z^2}\mathrm{erfc}(z)`,

        .. math::
            \varphi_j(t) = \Phi(-\mu_j/s) + \frac{e^{-\mu_j^2/2s^2}}{2\sqrt A}
                \begin{cases} E(\alpha - i\beta) & \mu_j < 0 \\
                -E(\alpha + i\beta) + 2e^{(\alpha + i\beta)^2} & \mu_j \ge 0 \end{cases}

        where the last exponent joins the factor in front and is never positive.
        """
        # Every (J, B, R) array is a product of a (J, 1, R) and a (1, B, R) one where it can be.
        ratio, weight = self._ratio().unsqueeze(1), self.weight.unsqueeze(1)
        mean = self.mean.unsqueeze(1)
        shrink = 1.0 / (1.0 + (self.sigma * self.scale * t).square())
        root = (0.5 * shrink).sqrt()
        sign = torch.where(ratio >= 0, 1.0, -1.0).to(ratio.dtype)
        value_re, value_im = scaled_erfc(sign * ratio * root, weight * (self.scale * t * root))

        edge = 0.5 * torch.exp(-0.5 * ratio.square())
        energy = (self.sigma * mean).square() + (self.scale * weight).square()
        bump = _exp(energy * (root * t).square().neg())
        bump = _multiply(bump, (sign > 0).to(bump.dtype))
        phase = (mean * weight) * (shrink * t)
        re, im = _multiply(torch.cos(phase), bump), _multiply(torch.sin(phase), bump)
        re = _subtract_product(re, sign * edge, value_re)
        im = _subtract_product(im, edge, value_im)
        height = math.sqrt(2.0) * root
        return complex_product(ndtr(-ratio) + _multiply(re, height), _multiply(im, height))

    def _ratio(self) -> Tensor:
        return (self.mean / self.scale).clamp(-_FAR, _FAR)


# A tile's arrays fit the cache only if passes reuse them; autograd needs them apart.


def _exp(fresh: Tensor) -> Tensor:
    return torch.exp(fresh) if fresh.requires_grad else fresh.exp_()


def _multiply(fresh: Tensor, factor: Tensor) -> Tensor:
    if fresh.requires_grad or factor.requires_grad:
        return fresh * factor
    return fresh.mul_(factor)


def _subtract_product(fresh: Tensor, a: Tensor, b: Tensor) -> Tensor:
    if fresh.requires_grad or a.requires_grad or b.requires_grad:
        return torch.addcmul(fresh, a, b, value=-1.0)
    return fresh.addcmul_(a, b, value=-1.0)
