"""Any module: draw weights, in antithetic pairs and in chunks."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.func import vmap

from fairsmooth._random import torch_generator
from fairsmooth.core.architecture import Architecture
from fairsmooth.core.smoothing.linear import apply_link

# Scalars of noise, or logits, held at once.
_TILE = 1 << 22


def smooth_sampled(
    architecture: Architecture,
    parameters: Tensor,
    X: Tensor,
    *,
    sigma: float,
    link: str,
    n_draws: int,
    seed: int,
) -> Tensor:
    """Estimate smooth scores of any architecture from antithetic weight draws; differentiable.

    Parameters
    ----------
    architecture : Architecture
        Anything with one logit per row. Buffers, such as the running statistics of
        batch normalisation, are part of the function and are not perturbed.
    parameters : Tensor of shape (m,)
    X : Tensor of shape (n, ...)
    sigma : float
    link : {"logistic", "probit", "step"}
    n_draws : int
        Number of weight draws, rounded up to an even number.
    seed : int
        Fixes the noise, and so the result, whatever the chunks in which it is computed.

    Returns
    -------
    Tensor of shape (n,)
        An unbiased estimate.

    Examples
    --------
    >>> from fairsmooth.core.architecture import Network
    >>> options = {"sigma": 0.5, "link": "logistic", "n_draws": 100, "seed": 0}
    >>> smooth_sampled(Network(2), torch.zeros(3), torch.ones(4, 2), **options).shape
    torch.Size([4])
    """
    pairs = range(math.ceil(n_draws / 2))
    chunks = weight_pair_scores(
        architecture, parameters, X, sigma=sigma, link=link, pairs=pairs, seed=seed
    )
    return torch.stack([scores.sum(0) for scores in chunks]).sum(0) / len(pairs)


def weight_pair_scores(
    architecture: Architecture,
    parameters: Tensor,
    X: Tensor,
    *,
    sigma: float,
    link: str,
    pairs: range,
    seed: int,
) -> Iterator[Tensor]:
    """Yield scores averaged over antithetic pairs of weights, shape (pairs, n) at a time.

    Pair ``i`` depends only on ``seed`` and ``i``; pairs are independent.
    """
    chunk = max(1, min(64, _TILE // (2 * max(parameters.numel(), 1))))
    for indices in (pairs[start : start + chunk] for start in range(0, len(pairs), chunk)):
        noise = torch.stack([_normal(parameters, seed, index) for index in indices])
        upper = _scores(architecture, parameters + sigma * noise, X, link)
        lower = _scores(architecture, parameters - sigma * noise, X, link)
        yield 0.5 * (upper + lower)


def _normal(parameters: Tensor, seed: int, index: int) -> Tensor:
    # Drawn on the CPU, so that every device sees the same noise.
    generator = torch_generator(seed, "weights", index)
    return torch.randn(parameters.numel(), generator=generator).to(parameters)


def _scores(architecture: Architecture, weights: Tensor, X: Tensor, link: str) -> Tensor:
    logits = vmap(architecture.logits, in_dims=(0, None))(weights, X)
    return apply_link(logits, link)
