r"""Deeper networks: sample hidden layers, integrate the last one out.

Given the layer below, perturbed pre-activations are independent Gaussians with
variance :math:`\sigma^2(\lVert h\rVert^2 + 1)`. So instead of weights, draw one number
per hidden unit, share it between rows, and average the last layer, whose logit is
Gaussian, in closed form.
"""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

from fairsmooth._random import seed_from, torch_generator
from fairsmooth.core.architecture import ACTIVATIONS, Network
from fairsmooth.core.smoothing.deep_scores import DeepScores
from fairsmooth.core.smoothing.linear import input_scale, smooth_link
from fairsmooth.core.smoothing.mixtures import COARSE

# Elements (draw, row, unit) worked on at once where gradients are wanted.
_TILE = 1 << 18
# Draws whose scores of all rows are held at once.
_DRAWS = 256


def smooth_layerwise(
    network: Network,
    parameters: Tensor,
    X: Tensor,
    *,
    sigma: float,
    link: str,
    n_draws: int,
    seed: int,
) -> Tensor:
    """Estimate smooth scores from scrambled Sobol noise in the hidden layers; differentiable.

    Parameters
    ----------
    network : Network
        With at least one hidden layer.
    parameters : Tensor of shape (..., m)
    X : Tensor of shape (..., n, d)
        Leading dimensions broadcast against those of ``parameters``.
    sigma : float
    link : {"logistic", "probit", "step"}
    n_draws : int
        Number of noise vectors; a power of 2 keeps the Sobol points balanced.
    seed : int
        Fixes the scrambling, and so the result. The same noise serves every row and group.

    Returns
    -------
    Tensor of shape (..., n)
        An unbiased estimate; its error falls almost as ``1 / n_draws``.

    Examples
    --------
    >>> network = Network(2, (4, 3))
    >>> parameters = torch.linspace(-1, 1, network.n_parameters)
    >>> options = {"sigma": 0.5, "link": "logistic", "n_draws": 64, "seed": 0}
    >>> smooth_layerwise(network, parameters, torch.ones(5, 2), **options).shape
    torch.Size([5])
    """
    noise = sobol_noise(network, n_draws, seed).to(X)
    if _plain(parameters, X):
        scores = DeepScores(network, parameters, X, sigma=sigma, link=link)
        totals = [scores(part).sum(0, dtype=torch.float64) for part in noise.split(_DRAWS)]
        return (torch.stack(totals).sum(0) / n_draws).to(X)
    size = _tile_draws(network, X)
    totals = [
        scores_given_noise(network, parameters, X, part, sigma, link).sum(0)
        for part in noise.split(size)
    ]
    return torch.stack(totals).sum(0) / n_draws


def _plain(parameters: Tensor, X: Tensor) -> bool:
    """Tell whether one model scores rows and nobody asks for gradients."""
    wanted = torch.is_grad_enabled() and (parameters.requires_grad or X.requires_grad)
    return parameters.ndim == 1 and X.ndim == 2 and not wanted


def sobol_noise(network: Network, n_draws: int, seed: int) -> Tensor:
    """Return ``n_draws`` quasi-random normal vectors, one entry per hidden unit."""
    engine = SobolEngine(sum(network.hidden_layer_sizes), scramble=True, seed=seed_from(seed) >> 1)
    points = engine.draw(n_draws, dtype=torch.float64)
    # A scrambled point may be 0, whose quantile is infinite.
    return torch.special.ndtri(points.clamp(1e-12, 1.0 - 1e-12))


def antithetic_scores(
    network: Network,
    parameters: Tensor,
    X: Tensor,
    *,
    sigma: float,
    link: str,
    pairs: range,
    seed: int,
) -> Iterator[Tensor]:
    """Yield scores averaged over independent antithetic pairs, shape (pairs, n) at a time.

    The pairs are independent and lie in [0, 1], which is what finite-sample
    intervals need; pair ``i`` depends only on ``seed`` and ``i``.
    """
    n_units = sum(network.hidden_layer_sizes)
    given = DeepScores(network, parameters, X, sigma=sigma, link=link)
    for start in range(0, len(pairs), _DRAWS):
        indices = pairs[start : start + _DRAWS]
        noise = torch.stack([_normal(n_units, X, seed, index) for index in indices])
        yield given(noise).add_(given(-noise)).mul_(0.5)


def _normal(n_units: int, like: Tensor, seed: int, index: int) -> Tensor:
    # Drawn where it is used; on the CPU in float32, whatever the type of the rows.
    generator = torch_generator(seed, "layerwise", index, device=like.device)
    return torch.randn(n_units, generator=generator, device=like.device).to(like)


def scores_given_noise(
    network: Network, parameters: Tensor, X: Tensor, noise: Tensor, sigma: float, link: str
) -> Tensor:
    """Return scores (draws, ..., n) given the noise of the hidden layers, the last integrated.

    ``noise`` has shape (draws, hidden units), shared by all rows, or
    (draws, ..., n, hidden units), every row having its own.
    """
    *hidden, (weight, bias) = network.layers(parameters)
    activation = ACTIVATIONS[network.activation]
    signal = X.unsqueeze(0)
    for (inner_weight, inner_bias), part in zip(
        hidden, noise.split(list(network.hidden_layer_sizes), dim=-1), strict=True
    ):
        mean = signal @ inner_weight.mT + inner_bias.unsqueeze(-2)
        if part.ndim == 2:
            part = part.reshape(len(noise), *(1,) * (mean.ndim - 2), -1)
        signal = activation(torch.addcmul(mean, input_scale(signal, sigma).unsqueeze(-1), part))
    logit = (signal @ weight.mT + bias.unsqueeze(-2)).squeeze(-1)
    return smooth_link(logit, input_scale(signal, sigma), link, rules=COARSE)


def _tile_draws(network: Network, X: Tensor) -> int:
    rows = max(1, math.prod(X.shape[:-1]))
    return max(2, _TILE // (rows * max(network.hidden_layer_sizes)))
