"""Exact smooth scores of networks with at most one hidden layer."""

from typing import Any

import torch
from torch import Tensor

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing.hidden import smooth_hidden
from fairsmooth.core.smoothing.linear import apply_link, input_scale, smooth_linear
from fairsmooth.core.smoothing.linear_error import linear_error, needs_more, rounded_logits
from fairsmooth.core.smoothing.mixtures import LINEAR_ERROR
from fairsmooth.core.smoothing.rounding import round_error
from fairsmooth.core.smoothing.unsmoothed import base_error
from fairsmooth.exceptions import InputError


def smooth_network(
    network: Network, parameters: Tensor, X: Tensor, *, sigma: float, link: str
) -> Tensor:
    r"""Return :math:`N(W)(x) = E f(x; W + \sigma Z)` exactly: no sampling, differentiable.

    Parameters
    ----------
    network : Network
        With no hidden layer or one.
    parameters : Tensor of shape (..., m)
        Flat parameter vectors, for instance one per group.
    X : Tensor of shape (..., n, d)
        Rows; leading dimensions broadcast against those of ``parameters``.
    sigma : float
        Standard deviation of the smoothing noise; 0 gives the base classifier.
    link : {"logistic", "probit", "step"}
        What turns the logit into a score.

    Returns
    -------
    Tensor of shape (..., n)
        Scores in [0, 1] in the wider type of ``parameters`` and ``X``. They are computed in
        float64 with an error below 1e-9 (linear) or 5e-7 (hidden layer), unless a row would take
        too much work or huge products cancel in a logit: :func:`smooth_with_error` says.

    References
    ----------
    Section 3.2, Eq. (9), which the paper evaluates with 100,000 weight draws.

    Examples
    --------
    >>> network = Network(2, (3,))
    >>> parameters = torch.linspace(-1, 1, network.n_parameters)
    >>> smooth_network(network, parameters, torch.ones(1, 2), sigma=0.5, link="logistic")
    tensor([0.7...])
    """
    if sigma == 0:  # training needs no error, which costs as much as the score
        logits = network.logits(parameters.double(), X.double())
        return apply_link(logits, link).to(torch.promote_types(parameters.dtype, X.dtype))
    return smooth_with_error(network, parameters, X, sigma=sigma, link=link)[0]


def smooth_with_error(
    network: Network, parameters: Tensor, X: Tensor, *, sigma: float, link: str
) -> tuple[Tensor, Tensor]:
    """Return the scores of :func:`smooth_network` and the error claimed for them.

    In the type of the scores: rounding to float32 is part of the error. What of the claim
    is proven and what measured is listed in :func:`smooth_hidden`.
    """
    if sigma > 0 and not is_exact(network):
        raise InputError(
            "Expected at most 1 hidden layer for exact smoothing, got "
            f"hidden_layer_sizes={network.hidden_layer_sizes}. Use method='layerwise'."
        )
    dtype = torch.promote_types(parameters.dtype, X.dtype)
    w, x = parameters.double(), X.double()
    if sigma == 0:
        score = apply_link(network.logits(w, x), link)
        error = base_error(network, w, x, link)
    elif network.hidden_layer_sizes:
        score, error = smooth_hidden(network, w, x, sigma=sigma, link=link)
    else:
        score = smooth_linear(network, w, x, sigma=sigma, link=link)
        error = _linear_error(w, x, score, sigma=sigma, link=link)
    return round_error(score, error, dtype)


@torch.no_grad()
def _linear_error(
    parameters: Tensor, X: Tensor, score: Tensor, *, sigma: float, link: str
) -> Tensor:
    """Return the error of a linear model's scores; most models need no look at the rows."""
    length, bias = parameters[..., :-1].norm(dim=-1, keepdim=True), parameters[..., -1:]
    options: dict[str, Any] = {"n_features": X.shape[-1], "sigma": sigma}
    most = rounded_logits(length, bias, **options)
    if not (most.numel() and needs_more(float(most.max()))):
        return torch.full_like(score, LINEAR_ERROR)
    scale = input_scale(X, sigma)
    error = linear_error(length, bias, scale, link=link, **options)
    return torch.as_tensor(error).nan_to_num(1.0).clamp_max(1.0).expand_as(score)


def is_exact(architecture: object) -> bool:
    """Tell whether exact smoothing covers this architecture."""
    return isinstance(architecture, Network) and len(architecture.hidden_layer_sizes) <= 1
