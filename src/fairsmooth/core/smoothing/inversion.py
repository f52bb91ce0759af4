r"""The integrand of Gil-Pelaez' formula, :math:`\mathrm{Im}\,\varphi(t)\cdot t\kappa(t)`."""

import math
from typing import Protocol

import torch
from torch import Tensor

# Beyond this the transform of the link's own density is below the tolerance.
LINK_RANGE = {"logistic": 5.6, "probit": 6.0, "step": math.inf}


class Units(Protocol):
    """The random terms of a hidden layer, as far as inversion needs them."""

    @property
    def sigma(self) -> float:
        """Standard deviation of the output weights."""

    def characteristic(self, t: Tensor) -> tuple[Tensor, Tensor]:
        """Return the characteristic function of their sum at ``t`` of shape (B, R)."""


def integrand(units: Units, bias: Tensor, t: Tensor, link: str) -> tuple[Tensor, Tensor]:
    r"""Return :math:`\mathrm{Im}\,\psi(t)` and :math:`|\psi(t)|` with ``t`` of shape (B, R).

    :math:`\psi(t) = \varphi(t)\,t\kappa(t)`, the characteristic function of the logit with
    output bias ``bias`` (R,), plus the link's own noise. The size carries no gradient.
    """
    re, im = units.characteristic(t)
    damping = torch.exp(-0.5 * (units.sigma * t).square()) * _kernel(t, link)
    phase = bias * t
    value = damping * (im * torch.cos(phase) + re * torch.sin(phase))
    return value, (damping * torch.hypot(re.detach(), im.detach())).detach()


def _kernel(t: Tensor, link: str) -> Tensor:
    if link == "logistic":
        x = math.pi * t
        return 2.0 * x * torch.exp(-x) / -torch.expm1(-2.0 * x)
    return torch.exp(-0.5 * t.square()) if link == "probit" else torch.ones_like(t)


def decay_rate(t: Tensor, sigma: float, link: str) -> Tensor:
    """Return the rate at which the known factors of the integrand fall beyond ``t``."""
    noise = sigma**2 * t
    if link == "logistic":
        return noise + 3.0
    return noise + t if link == "probit" else noise
