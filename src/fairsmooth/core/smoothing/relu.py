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

from fairsmooth.core.smoothing.chernoff import Bounds, heavy_theta
from fairsmooth.core.smoothing.faddeeva import complex_product, scaled_erfc
from fairsmooth.core.smoothing.linear import normal_cdf

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

    # Half of the error of the scaled error function, measured; everything else is rounding.
    unit_error: ClassVar[float] = 1.2e-10

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

    def variance(self) -> Tensor:
        """Return the variance of the sum of the terms, shape (R,)."""
        ratio = self._ratio()
        active = normal_cdf(ratio)
        density = torch.exp(-0.5 * ratio.square()) / math.sqrt(2.0 * math.pi)
        first = self.mean * active + self.scale * density
        second = self.mean * first + self.scale.square() * active
        spread = (second - first.square()).clamp_min(0.0)
        return (self.weight.square() * spread + self.sigma**2 * second).sum(0)

    def log_exponential_moment(self, theta: Tensor) -> Tensor:
        r"""Return an upper bound on :math:`\log E \exp(\theta \sum_j h_j(v_j + \sigma g_j))`.

        ``theta`` of shape (..., R), as the result, must satisfy :math:`|\theta|\sigma s < 1`. The
        bound is off by less than 1e-4 per unit, and only where a unit hardly matters.
        """
        theta = theta.unsqueeze(-2)
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
        # Everything is relative to e^outer, since a unit that is surely on may count e^-1000.
        density, far = -0.5 * ratio.square(), shift < -5.0
        least = torch.where(ratio > 0, density, 0.0)
        outer = torch.where(far, least, torch.maximum(exponent, least))
        near = normal_cdf(shift) * torch.exp(torch.where(far, 0.0, exponent - outer))
        away = 4.0 / ((shift.square() + 8.0).sqrt() - 3.0 * shift.clamp_max(-5.0))
        away = away * torch.exp(density - outer) / math.sqrt(2.0 * math.pi)
        active = torch.where(far, away, near) / shrink.sqrt()
        # Φ(-r) is at most half of e^(-r²/2), which is all that float64 can tell beyond 30.
        surely = ratio > 30.0
        off = torch.where(surely, 0.5, normal_cdf(-ratio))
        off = off * torch.exp(torch.where(surely, density, 0.0) - outer)
        return (outer + (off + active).clamp_min(1e-300).log()).sum(-2)

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
        return complex_product(normal_cdf(-ratio) + _multiply(re, height), _multiply(im, height))

    def log_envelope(self, t: Tensor) -> Tensor:
        r"""Bound :math:`\log|\prod_j\varphi_j|` by functions that fall in ``t``, of shape (R,).

        :math:`|\varphi_j| \le E e^{-\sigma^2t^2h_j^2/2}
        = \Phi(-r) + \Phi(r/\sqrt A)e^{-r^2(1 - 1/A)/2}/\sqrt A`, ``r`` the mean over the scale.
        """
        ratio = self._ratio()
        shrink = 1.0 / (1.0 + (self.sigma * self.scale * t).square())
        root = shrink.sqrt()
        kept = torch.exp(ratio.square() * (0.5 * (shrink - 1.0))) * root
        active = normal_cdf(ratio * root) * kept
        return (normal_cdf(-ratio) + active).clamp_min(1e-300).log().sum(0)

    def log_sharp_envelope(self, t: Tensor) -> Tensor:
        r"""Bound the same, counting cancellation within a unit as well.

        By the closed form, with :math:`|E(z)| \le \min\{1, 2/(\sqrt\pi|z|)\}` for
        :math:`\mathrm{Re}\,z \ge 0`: every term falls in ``t``.
        """
        ratio = self._ratio()
        shrink = 1.0 / (1.0 + (self.sigma * self.scale * t).square())
        root, turn = shrink.sqrt(), self.scale * t * self.weight
        kept = torch.exp(ratio.square() * (0.5 * (shrink - 1.0))) * root
        active = normal_cdf(ratio * root) * kept
        energy = ratio.square() * (1.0 - shrink) + turn.square() * shrink
        bump = torch.where(ratio >= 0, root * torch.exp(-0.5 * energy), 0.0)
        far = math.sqrt(2.0 / math.pi) / torch.hypot(ratio, turn).clamp_min(1e-300)
        edge = torch.exp(-0.5 * ratio.square()) * torch.minimum(0.5 * root, far)
        factor = normal_cdf(-ratio) + torch.minimum(active, bump + edge)
        return factor.clamp_min(1e-300).log().sum(0)

    def bounds(self, link: str, tail: float, truncation: float) -> Bounds:
        """Return exponential moments at the best parameter, and a guess of the range."""
        variance = self.variance() + self.sigma**2
        theta = self.best_theta(variance, link, tail)
        up, down = self.log_exponential_moment(torch.stack([theta, -theta])).unsqueeze(1)
        reach = self.reach(variance, link, truncation)
        return Bounds(theta.unsqueeze(0), up, down, reach, torch.full_like(reach, math.inf))

    def best_theta(self, variance: Tensor, link: str, tail: float) -> Tensor:
        """Return Chernoff's parameter that should make the period short, shape (R,)."""
        whole = variance + (1.0 if link == "probit" else 0.0)
        theta = heavy_theta(self.scale, self.sigma, whole, tail)
        return theta.clamp_max(1.0) if link == "logistic" else theta

    def reach(self, variance: Tensor, link: str, truncation: float) -> Tensor:
        r"""Guess where the integrand has fallen to the tolerance.

        As if the logit had :math:`J = 2\tau^2/(\sigma s)^2` units, each active half of the time:
        :math:`|\varphi| = (\frac12 + \frac12 (1 + (\sigma s t)^2)^{-1/2})^J`, Gaussian for many
        units and slower for few; times the link's factor, :math:`e^{-\pi t}` or
        :math:`e^{-t^2/2}`. Only a guess: nodes are added until those left out cannot matter.
        """
        tail = 1.09 * -math.log(0.5 * math.pi * truncation)
        width = self.sigma * self.scale
        share = 2.0 * torch.exp(-0.5 * (tail - 1.5) * width.square() / variance) - 1.0
        alone = (share.clamp_min(0.25).pow(-2.0) - 1.0).sqrt() / width
        if link == "step":
            return alone
        curvature = 2.0 * tail / alone.square()
        if link == "probit":
            return (2.0 * tail / (curvature + 1.0)).sqrt()
        return 2.0 * tail / (math.pi + (math.pi**2 + 2.0 * tail * curvature).sqrt())

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
