r"""Scores where noise is too small, or too large, to smooth with: what is known of them.

Without noise the score is the base classifier's, and rounding is all that can be wrong. It is
followed through the layers: a sum of ``n`` products is off by at most :math:`nu` times the sum of
their sizes in whatever order it is added, and what a layer gets wrong the next one multiplies by
the sizes of its weights and by the largest slope of the activation.
"""

import math

import torch
from torch import Tensor

from fairsmooth.core.architecture import ACTIVATIONS, Network
from fairsmooth.core.smoothing.linear import apply_link
from fairsmooth.core.smoothing.linear_error import LAST_DIGIT, LINK_ERROR, UNDERFLOW

# Noise whose squares, and those of what it is divided by, float64 can hold.
LEAST, MOST = 1e-100, 1e100
# Largest slope of an activation, and what evaluating it adds, in units of its value.
_SLOPES, _DIGITS = {"relu": 1.0, "tanh": 1.0, "silu": 1.1}, {"relu": 0.0, "tanh": 8.0, "silu": 16.0}


@torch.no_grad()
def base_error(network: Network, parameters: Tensor, X: Tensor, link: str) -> Tensor:
    """Bound what rounding does to the base classifier's score of every row, shape (..., n).

    Of the step link a row whose logit may be on either side of 0 has the error 1.
    """
    *hidden, last = network.layers(parameters)
    signal, error = X, torch.zeros_like(X)
    for weight, bias in hidden:
        signal, error = _layer(signal, error, weight, bias)
        signal = ACTIVATIONS[network.activation](signal)
        error = _SLOPES[network.activation] * error
        error = error + _DIGITS[network.activation] * LAST_DIGIT * signal.abs()
    logit, moved = (part.squeeze(-1) for part in _layer(signal, error, *last))
    if link == "step":
        return (~(logit.abs() > moved)).to(logit)
    low, score, high = apply_link(torch.stack([logit - moved, logit, logit + moved]), link)
    return (torch.maximum(high - score, score - low) + LINK_ERROR).nan_to_num(1.0)


def _layer(signal: Tensor, error: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Return what a layer makes of a signal before its activation, and how wrong that may be."""
    size = weight.abs().mT
    digits = (weight.shape[-1] + 16) * LAST_DIGIT
    moved = error @ size + digits * ((signal.abs() + error) @ size + bias.abs().unsqueeze(-2))
    value = signal @ weight.mT + bias.unsqueeze(-2)
    return value, 1.01 * moved + UNDERFLOW * (weight.shape[-1] + 2)


def beyond(
    network: Network, parameters: Tensor, X: Tensor, *, sigma: float, link: str
) -> tuple[Tensor, Tensor]:
    r"""Return scores of networks in noise outside [LEAST, MOST], and the error claimed for them.

    In less noise that is the base classifier's score, and nothing is proven. In more the score is
    ½ but for :math:`\lVert(v, c)\rVert/\sqrt{2\pi}\sigma` (Lemma 2): with output weights of 0 a
    logit is as likely to be positive as negative.
    """
    score = apply_link(network.logits(parameters, X), link)
    if sigma < LEAST:
        return score, torch.ones_like(score)
    output = parameters.detach()[..., -(network.hidden_layer_sizes[-1] + 1) :]
    most = output.norm(dim=-1, keepdim=True) * (1.01 / math.sqrt(2.0 * math.pi) / sigma)
    half = torch.full_like(score, 0.5)
    return half, most.nan_to_num(1.0).clamp(2.0 * LAST_DIGIT, 1.0).expand_as(half)
