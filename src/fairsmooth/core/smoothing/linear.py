r"""Smoothing when the logit is Gaussian: linear models, and last layers.

For ``f = g(w·x + b)`` the perturbed logit is :math:`N(\mu, s^2)` with
:math:`\mu = w·x + b` and :math:`s^2 = \sigma^2(\lVert x\rVert^2 + 1)`, so
smoothing is one integral in one dimension, :math:`E\, g(\mu + sZ)`:

- step link: :math:`\Phi(\mu / s)`;
- probit link: :math:`\Phi(\mu / \sqrt{1 + s^2})`;
- logistic link: a standard logistic variable is :math:`2VZ` with ``V`` following
  Kolmogorov's distribution (Andrews and Mallows, 1974), hence exactly
  :math:`E_V\, \Phi(\mu / \sqrt{s^2 + 4V^2})`. Gauss quadrature for the law of
  ``log V`` turns it into a mixture of 16 normal distribution functions whose
  error stays below 1e-10 for every ``mu`` and ``s`` at once: nodes need not
  follow ``s``, every term is monotone, and the mixture stays in [0, 1].
"""

import math
from functools import cache

import numpy as np
import torch
from scipy.linalg import eigh_tridiagonal
from torch import Tensor

from fairsmooth._types import Floats
from fairsmooth.core.architecture import Network

LINKS = ("logistic", "probit", "step")
N_NODES = 16
# Rows larger than this have the score of their direction.
_HUGE = 1e100


def normal_cdf(x: Tensor) -> Tensor:
    """Return the standard normal distribution function, with all digits far to the left.

    ``torch.special.ndtr`` adds 1 to an error function and so is 0 below -8.3.
    """
    return 0.5 * torch.special.erfc(x * -math.sqrt(0.5))


def apply_link(logits: Tensor, link: str) -> Tensor:
    """Turn logits into scores without smoothing; the step link is ½ at 0."""
    if link == "logistic":
        return torch.sigmoid(logits)
    if link == "probit":
        return normal_cdf(logits)
    return torch.heaviside(logits, logits.new_tensor(0.5))


def smooth_link(mean: Tensor, scale: Tensor, link: str, *, n_nodes: int = N_NODES) -> Tensor:
    r"""Return :math:`E\, g(\text{mean} + \text{scale}\cdot Z)` for a standard normal ``Z``.

    ``mean`` and ``scale`` (at least 0) broadcast against each other. ``n_nodes`` normals
    stand for the logistic: 16 within 1e-10, 8 within 1e-6.
    """
    if link == "probit":
        return normal_cdf(mean / (1.0 + scale.square()).sqrt())
    if link == "step":
        smoothed = normal_cdf(mean / scale.clamp_min(_tiny(scale)))
        # The step itself has no derivative, so it must stay outside the graph.
        return torch.where(scale > 0, smoothed, apply_link(mean.detach(), link))
    widths, weights = logistic_mixture(n_nodes)
    variances = torch.as_tensor(widths**2, dtype=mean.dtype, device=mean.device)
    shares = torch.as_tensor(weights, dtype=mean.dtype, device=mean.device)
    inverse_spread = (scale.square().unsqueeze(-1) + variances).rsqrt()
    # Twice the normal distribution functions, in as few passes as possible.
    twice = torch.special.erfc((mean * -math.sqrt(0.5)).unsqueeze(-1) * inverse_spread)
    # The shares add to 1 up to rounding, so the sum may exceed 1 by a few units.
    return (twice @ (0.5 * shares)).clamp_max(1.0)


def input_scale(X: Tensor, sigma: float) -> Tensor:
    r"""Return :math:`s = \sigma\sqrt{\lVert x\rVert^2 + 1}`, the logit's standard deviation."""
    # One pass without an array of squares, unless a square overflows.
    norm = torch.linalg.vector_norm(X, dim=-1)
    if norm.numel() and math.isinf(float(norm.detach().max())):
        largest = X.detach().abs().amax(-1).clamp_min(1.0)
        norm = largest * torch.linalg.vector_norm(X / largest.unsqueeze(-1), dim=-1)
    return sigma * torch.hypot(norm, torch.ones_like(norm))


def smooth_linear(
    network: Network, parameters: Tensor, X: Tensor, *, sigma: float, link: str
) -> Tensor:
    """Return the exact smooth score of a linear model for every row.

    Rows beyond 1e100 are first scaled down to it: by then the link's own width and the
    intercept no longer count, and nothing overflows.
    """
    scale = input_scale(X, sigma)
    if scale.numel() and float(scale.detach().max()) > sigma * _HUGE:
        largest = X.detach().abs().amax(-1, keepdim=True)
        X = X * (_HUGE / largest.clamp_min(_HUGE))
        scale = input_scale(X, sigma)
    return smooth_link(network.logits(parameters, X), scale, link)


def _tiny(like: Tensor) -> float:
    return torch.finfo(like.dtype).tiny


@cache
def logistic_mixture(n_nodes: int) -> tuple[Floats, Floats]:
    """Return widths ``2V`` and weights of the logistic as a scale mixture of normals.

    Gauss quadrature with respect to the law of ``log V``, by the Lanczos
    recurrence on a fine trapezoid, which is exact to rounding for this smooth
    and rapidly falling density.
    """
    logs = np.linspace(math.log(0.1), math.log(8.0), 1200)
    values = np.exp(logs)
    masses = _kolmogorov_density(values) * values
    masses /= masses.sum()
    basis = [np.sqrt(masses)]
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    for _ in range(n_nodes):
        image = logs * basis[-1]
        diagonal.append(float(basis[-1] @ image))
        # Subtracting every earlier vector keeps them orthogonal to rounding.
        for vector in basis:
            image = image - (vector @ image) * vector
        for vector in basis:
            image = image - (vector @ image) * vector
        off_diagonal.append(float(np.linalg.norm(image)))
        basis.append(image / off_diagonal[-1])
    nodes, vectors = eigh_tridiagonal(np.array(diagonal), np.array(off_diagonal[:-1]))
    return 2.0 * np.exp(nodes), vectors[0] ** 2


def _kolmogorov_density(values: Floats) -> Floats:
    """Density of Kolmogorov's distribution by its two series, each where it converges fast."""
    v = values[:, None]
    k = np.arange(1, 30)[None, :]
    right = (8.0 * v * (-1.0) ** (k - 1) * k**2 * np.exp(-2.0 * (k * v) ** 2)).sum(1)
    c = (math.pi * (2 * k - 1)) ** 2 / (8.0 * v**2)
    left = (math.sqrt(2.0 * math.pi) / v**2 * (2.0 * c - 1.0) * np.exp(-c)).sum(1)
    return np.where(values > 1.0, right, left)
