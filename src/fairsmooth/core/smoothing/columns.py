"""Smoothing of several linear models' logits, which share the scale of their row."""

import math

import numpy as np
import torch
from torch import Tensor

from fairsmooth._types import Floats
from fairsmooth.core.device import scoring_device
from fairsmooth.core.smoothing.linear import apply_link, normal_cdf
from fairsmooth.core.smoothing.mixtures import FINE, Rule, ranges


def smooth_columns(logits: Floats, variance: Floats, *, link: str, device: str) -> Floats:
    r"""Return :math:`E\,g(\mu + sZ)` for logits ``(n, M)`` and variances ``(n,)``, all finite.

    As :func:`fairsmooth.core.smoothing.linear.smooth_link`, but what depends on the scale
    alone is computed once per row.

    Examples
    --------
    >>> smooth_columns(np.array([[0.0, 2.0]]), np.array([1.0]), link="probit", device="cpu")
    array([[0.5       , 0.9213...]])
    """
    place = scoring_device(device)
    mean, spread = (torch.from_numpy(part).to(place) for part in (logits, variance))
    with torch.no_grad():
        if link == "probit":
            scores = normal_cdf(mean * (1.0 + spread).rsqrt().unsqueeze(1))
        elif not bool(spread.any()):
            scores = apply_link(mean, link)
        else:
            scores = _logistic(mean, spread)
    return np.asarray(scores.cpu().numpy())


def _logistic(mean: Tensor, variance: Tensor) -> Tensor:
    """Give every row the rule of its own scale."""
    scale = variance.sqrt()
    used = ranges(FINE, *(float(end) for end in scale.aminmax()))
    if len(used) == 1:
        return _mixture(mean, variance, used[0][0])
    scores = torch.empty_like(mean)
    for rule, low, high in used:
        rows = torch.nonzero((scale >= low) & (scale < high)).squeeze(1)
        scores[rows] = _mixture(mean[rows], variance[rows], rule)
    return scores


def _mixture(mean: Tensor, variance: Tensor, rule: Rule) -> Tensor:
    """Add one normal after the other: each is one pass over all models, in one array."""
    scores, part = torch.full_like(mean, 0.5), torch.empty_like(mean)
    for width, share in zip(*(part.tolist() for part in rule.normals), strict=True):
        narrow = (variance + width).rsqrt_().mul_(math.sqrt(0.5)).unsqueeze(1)
        scores.add_(torch.mul(mean, narrow, out=part).erf_(), alpha=0.5 * share)
    # The shares add to 1 up to rounding, so the sum may leave [0, 1] by a few units.
    return scores.clamp_(0.0, 1.0)
