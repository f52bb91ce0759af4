r"""One hidden layer of ReLU units: moments, exponential moments and characteristic function.

Given the input, unit ``j`` is :math:`h_j = \max(0, \mu_j + s\varepsilon_j)` and its
term of the logit is :math:`h_j (v_j + \sigma g_j)`, all :math:`\varepsilon_j, g_j`
independent standard normal. Everything below is closed form.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.special import log_ndtr

from fairsmooth.core.smoothing.chernoff import Bounds, heavy_theta
from fairsmooth.core.smoothing.faddeeva import complex_product, scaled_erfc
from fairsmooth.core.smoothing.inversion import last_end, rest_bound
from fairsmooth.core.smoothing.linear import normal_cdf

# Real and imaginary part of an argument, to those of its scaled complementary error function.
ScaledErfc = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
# Beyond this the Gaussian factor is 0 in float64; the bound keeps products finite.
_FAR = 1e4
# The standard normal density at 0.
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


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

    @property
    def tracked(self) -> bool:
        """Tell whether autograd follows."""
        return torch.is_grad_enabled() and (
            self.mean.requires_grad or self.weight.requires_grad or self.scale.requires_grad
        )

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
        ratio = self.mean / self.scale
        active = normal_cdf(ratio)
        density = torch.exp(-0.5 * ratio.square()) * _DENSITY
        first = torch.addcmul(density, ratio, active)
        second = torch.addcmul(active, ratio, first)
        spread = torch.addcmul(second, first, first, value=-1.0).clamp_min(0.0)
        variance = self.weight.square() * spread + self.sigma**2 * second
        return variance.sum(0) * self.scale.square()

    def log_exponential_moment(self, theta: Tensor) -> Tensor:
        r"""Return an upper bound on :math:`\log E \exp(\theta \sum_j h_j(v_j + \sigma g_j))`.

        ``theta`` of shape (..., R), as the result, must satisfy :math:`|\theta|\sigma s \le 0.9`.
        The bound is off by less than 3e-4 (1 + r) per unit, ``r`` the mean over the scale if that
        is positive, and only where a unit hardly matters.
        """
        turn = theta * self.scale
        return self._log_moment(turn, (self.sigma * turn).square())

    def _log_moment(self, turn: Tensor, square: Tensor) -> Tensor:
        r"""Bound the sum over units of :math:`\log E e^{\lambda h + \kappa h^2/2}`, shape (..., R).

        Here ``h`` is the unit over its scale, :math:`\lambda = v_j` times ``turn``, and
        :math:`\kappa < 1` is ``square``. With ``r`` the mean over the scale and
        :math:`z = (r + \lambda)/\sqrt{1 - \kappa}` the expectation is
        :math:`\Phi(-r) + \Phi(z)e^{(\kappa r^2 + 2\lambda r + \lambda^2)/2(1 - \kappa)}
        /\sqrt{1 - \kappa}`. All is in logarithms, since a unit that is surely on may count
        :math:`e^{-1000}`.
        """
        ratio, tilt = self.mean / self.scale, turn.unsqueeze(-2) * self.weight
        square = square.unsqueeze(-2)
        shrink, half = 1.0 - square, 0.5 * ratio.square()
        shift = (ratio + tilt) * shrink.rsqrt()
        exponent = torch.addcmul(tilt * torch.add(ratio, tilt, alpha=0.5), square, half) / shrink
        # Far out a huge exponent cancels: what is left is the density at 0 times Mills' ratio,
        # which is at most 1/|z|.
        far = math.log(_DENSITY / _FAR) - half
        active = torch.where(shift < -_FAR, far, log_ndtr(shift) + exponent)
        return torch.logaddexp(log_ndtr(-ratio), active - 0.5 * shrink.log()).sum(-2)

    def characteristic(self, t: Tensor) -> tuple[Tensor, Tensor]:
        r"""Return :math:`\prod_j\varphi_j(t)` at ``t`` of shape (B, R), real and imaginary."""
        return complex_product(*self.factors(t, scaled_erfc))

    def factors(self, t: Tensor, erfc: ScaledErfc) -> tuple[Tensor, Tensor]:
        r"""Return all :math:`\varphi_j(t)`, shape (J, B, R), for ``t`` of shape (B, R).

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
        mean, turn = self.mean.unsqueeze(1), self.scale * t
        shrink = (1.0 + (self.sigma * turn).square()).reciprocal()
        height, slow = shrink.sqrt(), shrink * t
        root, on = math.sqrt(0.5) * height, (ratio >= 0).to(ratio.dtype)
        # Half of the sign: autograd knows no slope of an absolute value at 0.
        half = on - 0.5
        value_re, value_im = erfc(half * ratio * (2.0 * root), weight * (turn * root))

        edge = torch.exp(-0.5 * ratio.square())
        energy = (self.sigma * mean).square() + (self.scale * weight).square()
        bump = _multiply(_exp((-0.5 * energy) * (slow * t)), on)
        phase = (mean * weight) * slow
        re, im = _multiply(torch.cos(phase), bump), _multiply(torch.sin(phase), bump)
        re = _subtract_product(re, half * edge, value_re)
        im = _subtract_product(im, 0.5 * edge, value_im)
        return torch.addcmul(normal_cdf(-ratio), re, height), _multiply(im, height)

    def log_envelope(self, t: Tensor) -> Tensor:
        r"""Bound :math:`\log|\prod_j\varphi_j|` by functions that fall in ``t``, of shape (R,).

        :math:`|\varphi_j| \le E e^{-\sigma^2t^2h_j^2/2}
        = \Phi(-r) + \Phi(r/\sqrt A)e^{-r^2(1 - 1/A)/2}/\sqrt A`, ``r`` the mean over the scale.
        """
        ratio = self._ratio()
        shrink = (1.0 + (self.sigma * self.scale * t).square()).reciprocal()
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
        reach = self.reach(variance, link, truncation).clamp_max(last_end(self.sigma, link))
        turn, damping = theta * self.scale, (self.sigma * self.scale * reach).square()
        square = (self.sigma * turn).square()
        # Few rows feel every operation, so that moments and envelope are one.
        logs = self._log_moment(
            torch.stack([turn, -turn, torch.zeros_like(turn)]),
            torch.stack([square, square, -damping]),
        )
        up, down, envelope = logs.unsqueeze(1)
        rest = rest_bound(envelope, reach, self.sigma, link).squeeze(0)
        return Bounds(theta.unsqueeze(0), up, down, reach, rest)

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
        tail = 1.12 * -math.log(0.5 * math.pi * truncation)
        width = (self.sigma * self.scale).square()
        share = 2.0 * torch.exp((-0.5 * (tail - 1.5)) * (width / variance)) - 1.0
        # The square of where units alone end it.
        alone = (share.clamp_min(0.25).pow(-2.0) - 1.0) / width
        if link == "step":
            return alone.sqrt()
        curvature = 2.0 * tail / alone
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
