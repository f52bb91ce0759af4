r"""Smoothing when the logit is Gaussian: linear models, and last layers.

For ``f = g(w·x + b)`` the perturbed logit is :math:`N(\mu, s^2)` with
:math:`\mu = w·x + b` and :math:`s^2 = \sigma^2(\lVert x\rVert^2 + 1)`, so
smoothing is one integral in one dimension, :math:`E\, g(\mu + sZ)`:

- step link: :math:`\Phi(\mu / s)`;
- probit link: :math:`\Phi(\mu / \sqrt{1 + s^2})`;
- logistic link: a mixture of 2 to 14 normal distribution functions, the fewer the larger
  ``s`` (``mixtures.py``), within 2.5e-10 for every ``mu``: every term is monotone, and the
  mixture stays in [0, 1].
"""

import math

import torch
from torch import Tensor

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing.mixtures import FINE, Rule, ranges

LINKS = ("logistic", "probit", "step")
# Rows larger than this have the score of their direction.
_HUGE = 1e100
# The same for standard deviations of logits in float32, whose squares must not overflow.
_WIDE = 1e12


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


def smooth_link(
    mean: Tensor, scale: Tensor, link: str, *, rules: tuple[Rule, ...] = FINE
) -> Tensor:
    r"""Return :math:`E\, g(\text{mean} + \text{scale}\cdot Z)` for a standard normal ``Z``.

    ``mean`` and ``scale`` (at least 0) broadcast against each other. ``rules`` say how many
    normals stand for the logistic. Every row has the rule of its own scale, so that its score
    does not depend on others.
    """
    mean, scale = _within_range(mean, scale)
    if link == "probit":
        return normal_cdf(mean / (1.0 + scale.square()).sqrt())
    if link == "step":
        # Dividing by 0 would make the derivative no number, though it is not used.
        smoothed = normal_cdf(mean / torch.where(scale > 0, scale, 1.0))
        # The step itself has no derivative, so it must stay outside the graph.
        return torch.where(scale > 0, smoothed, apply_link(mean.detach(), link))
    mean, scale = torch.broadcast_tensors(mean, scale)
    if scale.numel() == 0:
        return torch.sigmoid(mean)
    least, most = (float(end) for end in scale.detach().aminmax())
    used = ranges(rules, least, most)
    # The first rule serves every scale, and what is no number stays none.
    if len(used) < 2:
        return _mixture(mean, scale, used[0][0] if used else rules[0])
    return _by_scale(mean.reshape(-1), scale.reshape(-1), used).reshape(mean.shape)


def _within_range(mean: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """Bring scales down to where their squares are finite; by then only the ratio counts."""
    wide = _WIDE if scale.dtype != torch.float64 else _HUGE
    if scale.numel() == 0 or float(scale.detach().max()) <= wide:
        return mean, scale
    shrink = (scale / wide).clamp_min(1.0)
    return mean / shrink, scale / shrink


def _by_scale(mean: Tensor, scale: Tensor, used: list[tuple[Rule, float, float]]) -> Tensor:
    known, parts, places = scale.detach(), [], []
    for rule, low, high in used:
        rows = torch.nonzero((known >= low) & (known < high)).squeeze(1)
        places.append(rows)
        parts.append(_mixture(mean.index_select(0, rows), scale.index_select(0, rows), rule))
    return torch.empty_like(mean).scatter(0, torch.cat(places), torch.cat(parts))


def _mixture(mean: Tensor, scale: Tensor, rule: Rule) -> Tensor:
    variances, shares = (torch.as_tensor(part).to(mean) for part in rule.normals)
    # Normals first and rows last: long inner loops, and one fresh array that passes reuse.
    spread = variances.reshape(-1, *(1,) * mean.ndim) + scale.square()
    mean = mean * math.sqrt(0.5)
    if spread.requires_grad or mean.requires_grad:
        parts = torch.erf(spread.rsqrt() * mean)
    else:
        parts = spread.rsqrt_().mul_(mean).erf_()
    # The shares add to 1 up to rounding, so the sum may leave [0, 1] by a few units.
    return torch.tensordot(0.5 * shares, parts, dims=1).add(0.5).clamp(0.0, 1.0)


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

    Rows beyond 1e100 are worked on scaled down, with the intercept, and scaled up again as far as
    nothing overflows: by then the link's own width no longer counts.
    """
    scale = input_scale(X, sigma)
    if scale.numel() and float(scale.detach().max()) > sigma * _HUGE:
        shrink = (_HUGE / X.detach().abs().amax(-1).clamp_min(_HUGE)).to(X)
        small = X * shrink.unsqueeze(-1)
        # Not by the network's logits: there the intercept would drown what the row adds.
        weight, bias = parameters[..., :-1].unsqueeze(-1), parameters[..., -1:]
        mean = (small @ weight).squeeze(-1) + bias * shrink
        norm = torch.linalg.vector_norm(small, dim=-1)
        scale = sigma * torch.hypot(norm, shrink)
        grow = torch.minimum(1.0 / shrink, _HUGE / torch.maximum(mean.detach().abs(), scale))
        return smooth_link(mean * grow, scale * grow, link)
    return smooth_link(network.logits(parameters, X), scale, link)
