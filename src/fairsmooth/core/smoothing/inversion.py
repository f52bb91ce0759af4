r"""The integrand of Gil-Pelaez' formula, and what its tail can add.

:math:`\psi(t) = \varphi(t)\,t\kappa(t)` with :math:`t\kappa(t) = \pi t/\sinh \pi t` (logistic),
:math:`e^{-t^2/2}` (probit), 1 (step).
"""

import math
from typing import Protocol

import torch
from torch import Tensor

# Beyond this, 1/π ∫κ is below 1e-16 whatever the network.
LINK_RANGE = {"logistic": 11.5, "probit": 8.2, "step": math.inf}


def last_end(sigma: float, link: str) -> float:
    """Return where the integral may end whatever the network: the rest is 0 in float64."""
    return min(LINK_RANGE[link], 9.0 / sigma)


class Units(Protocol):
    """The random terms of a hidden layer, as far as inversion needs them."""

    @property
    def sigma(self) -> float:
        """Standard deviation of the output weights."""

    def characteristic(self, t: Tensor) -> tuple[Tensor, Tensor]:
        """Return the characteristic function of their sum at ``t`` of shape (B, R)."""

    def log_envelope(self, t: Tensor) -> Tensor:
        r"""Return a falling bound on :math:`\log|\prod_j\varphi_j|` at ``t`` of shape (R,)."""


def integrand(units: Units, bias: Tensor, t: Tensor, link: str) -> Tensor:
    r"""Return :math:`\mathrm{Im}\,\psi(t)`, ``t`` of shape (B, R) and output bias ``bias`` (R,)."""
    re, im = units.characteristic(t)
    phase = bias * t
    return known_decay(t, units.sigma, link) * (im * torch.cos(phase) + re * torch.sin(phase))


def known_decay(t: Tensor, sigma: float, link: str) -> Tensor:
    r"""Return :math:`e^{-\sigma^2t^2/2}\,t\kappa(t)`: the output bias' noise and the link's own."""
    noise = torch.exp(-0.5 * (sigma * t).square())
    if link == "logistic":
        x = math.pi * t
        return noise * (x / torch.sinh(x))
    return noise * torch.exp(-0.5 * t.square()) if link == "probit" else noise


def rest_bound(log_envelope: Tensor, t: Tensor, sigma: float, link: str) -> Tensor:
    r"""Bound what the integral, or the midpoint rule, adds beyond ``t``; shape (R,).

    :math:`|\varphi|` is at most :math:`e^{-\sigma^2t^2/2}` times an envelope that falls, so the
    rest is at most the envelope at ``t`` times :math:`\frac1\pi\int_t^\infty
    e^{-\sigma^2u^2/2}\kappa(u)\,du`. The midpoint rule adds no more, since :math:`\kappa` is
    convex. The integral is at most :math:`-e^{-\sigma^2t^2/2}\log\tanh(\pi t/2)` (logistic) or
    :math:`\frac12 E_1(x) \le \frac12 e^{-x}\log(1 + 1/x)`, ``x`` the exponent at ``t``.
    """
    if link == "logistic":
        log_tail = -0.5 * (sigma * t).square()
        tail = torch.log1p(2.0 / torch.expm1(math.pi * t))
    else:
        x = 0.5 * t.square() * (sigma**2 + (1.0 if link == "probit" else 0.0))
        log_tail, tail = -x, 0.5 * torch.log1p(1.0 / x.clamp_min(1e-300))
    return torch.exp((log_envelope + log_tail).clamp_max(0.0)) * tail / math.pi
