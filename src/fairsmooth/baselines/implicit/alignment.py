"""The implicit gradient of aligned heads: logistic heads on top of shared features."""

from collections.abc import Callable

import torch
from torch import Tensor

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


def implicit_gradient(
    features: Tensor, labels: Tensor, heads: Tensor, *, alignment_weight: float, solve: Solver
) -> Tensor:
    r"""Return the implicit gradient in the features, shape (K, m, width).

    It is that of :math:`\sum_k [L_k - \langle \partial_h L_k, P_k \rangle]` with
    the heads and the :math:`P_k` held fixed. Where the heads minimise
    :math:`L_k`, it is that of the bilevel objective, exactly. With
    :math:`p_i = \varsigma(x_i \cdot h)`, the row of :math:`x_i` is

    .. math:: \frac{1}{m} \big\{ [p_i - y_i - p_i (1 - p_i)\, x_i \cdot P]\, h
              - (p_i - y_i)\, P \big\}.

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
    scores = torch.sigmoid(_products(features, heads))
    residuals, slopes = scores - labels, scores * (1.0 - scores)
    pull = len(heads) * heads - heads.sum(dim=0)
    right = _weighted_mean(features, residuals) + alignment_weight * pull
    directions = solve(features, slopes, right)
    along_heads = residuals - slopes * _products(features, directions)
    # Both outer products of a group at once.
    factors = torch.stack([along_heads, -residuals], dim=2)
    return factors @ torch.stack([heads, directions], dim=1) / features.shape[1]


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


# Row vectors from the left: einsum, and column vectors from the right, take ten times as long.
def _products(features: Tensor, vectors: Tensor) -> Tensor:
    return (vectors.unsqueeze(1) @ features.mT).squeeze(1)


def _weighted_mean(features: Tensor, weights: Tensor) -> Tensor:
    return (weights.unsqueeze(1) @ features).squeeze(1) / features.shape[1]
