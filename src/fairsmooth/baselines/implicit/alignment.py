"""The implicit gradient of aligned heads: logistic heads on top of shared features."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

_RESIDUAL_TOLERANCE = 1e-10

Solver = Callable[[Tensor, Tensor, Tensor], Tensor]


def with_intercept(features: Tensor) -> Tensor:
    """Append a column of ones to features of shape (..., width)."""
    return torch.cat([features, features.new_ones((*features.shape[:-1], 1))], dim=-1)


def head_gradient(features: Tensor, labels: Tensor, heads: Tensor) -> Tensor:
    r"""Return :math:`\partial_h L_k` of every group's mean cross-entropy, shape (K, width).

    ``features`` has shape (K, m, width), ``labels`` (K, m), ``heads`` (K, width).
    """
    residuals = torch.sigmoid(_products(features, heads)) - labels
    return _weighted_mean(features, residuals)


def implicit_surrogate(
    features: Tensor, labels: Tensor, heads: Tensor, *, alignment_weight: float, solve: Solver
) -> Tensor:
    r"""Return a scalar whose gradient in the features is the implicit gradient.

    It is :math:`\sum_k [L_k - \langle \partial_h L_k, P_k \rangle]` with the
    heads and the :math:`P_k` held fixed. Where the heads minimise
    :math:`L_k`, its gradient in the representation is that of the bilevel
    objective, exactly.

    Parameters
    ----------
    features : Tensor of shape (K, m, width)
        Representation of m rows per group, a column of ones included.
    labels : Tensor of shape (K, m)
        Labels 0 and 1.
    heads : Tensor of shape (K, width)
        The groups' heads.
    alignment_weight : float
        :math:`\kappa`.
    solve : callable
        ``solve(features, slopes, right)`` returns :math:`H_k^{-1}` times the
        rows of ``right``, for :math:`H_k` with the given slopes
        :math:`p(1 - p)`.

    References
    ----------
    Shui et al. 2022, implicit gradient of the path alignment objective.
    """
    with torch.no_grad():
        scores = torch.sigmoid(_products(features, heads))
        pull = len(heads) * heads - heads.sum(dim=0)
        right = _weighted_mean(features, scores - labels) + alignment_weight * pull
        directions = solve(features, scores * (1.0 - scores), right)
    logits = _products(features, heads)
    losses = nn.functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    corrections = (torch.sigmoid(logits) - labels) * _products(features, directions)
    return (losses - corrections).mean(dim=1).sum()


def direct(damping: float) -> Solver:
    """Solve with the Hessian itself, ``damping`` added to its diagonal."""

    def solve(features: Tensor, slopes: Tensor, right: Tensor) -> Tensor:
        hessians = features.mT @ (features * slopes.unsqueeze(-1)) / features.shape[1]
        identity = torch.eye(features.shape[2], dtype=features.dtype)
        solution: Tensor = torch.linalg.solve(hessians + damping * identity, right.unsqueeze(-1))
        return solution.squeeze(-1)

    return solve


def conjugate_gradient(n_steps: int) -> Solver:
    """Solve by undamped conjugate gradient steps from 0, all groups at once."""

    def solve(features: Tensor, slopes: Tensor, right: Tensor) -> Tensor:
        solution, residual = torch.zeros_like(right), right
        direction, size = right, right.square().sum(dim=1, keepdim=True)
        for _ in range(n_steps):
            product = _weighted_mean(features, slopes * _products(features, direction))
            curvature = (direction * product).sum(dim=1, keepdim=True)
            # A solved group stands still: its step and its next direction are 0.
            active = (size > _RESIDUAL_TOLERANCE) & (curvature > 0)
            step = torch.where(active, size / curvature, 0.0)
            solution, residual = solution + step * direction, residual - step * product
            previous, size = size, residual.square().sum(dim=1, keepdim=True)
            direction = residual + torch.where(active, size / previous, 0.0) * direction
        return solution

    return solve


def _products(features: Tensor, vectors: Tensor) -> Tensor:
    return torch.einsum("kmw,kw->km", features, vectors)


def _weighted_mean(features: Tensor, weights: Tensor) -> Tensor:
    return torch.einsum("kmw,km->kw", features, weights) / features.shape[1]
