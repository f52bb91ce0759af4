"""Centres and distances of the groups' parameters."""

import numpy as np
from scipy.optimize import minimize

from fairsmooth._types import Floats


def mean_center(group_parameters: Floats) -> Floats:
    """Return the average ``W* = (W_1 + … + W_K) / K``, the paper's overall parameters."""
    # Averaging offsets from the first group is exact when all groups are equal.
    first = group_parameters[0]
    return np.asarray(first + (group_parameters - first).mean(axis=0))


def ball_center(group_parameters: Floats) -> Floats:
    r"""Return the centre of the smallest ball that holds every group's parameters.

    An extension of the paper. By Jung's theorem the largest distance to this
    centre is at most :math:`d\sqrt{(K-1)/2K}`, never more than the largest
    distance to the mean. The centre is a convex combination of the ``W_k``
    whose weights solve the dual, a concave quadratic programme over the simplex.
    """
    n_groups = len(group_parameters)
    offsets = group_parameters - mean_center(group_parameters)
    gram = offsets @ offsets.T
    scale = float(np.diag(gram).max())
    if scale == 0.0:
        return mean_center(group_parameters)
    gram /= scale
    squares = np.diag(gram)
    solution = minimize(
        lambda weights: float(weights @ gram @ weights - weights @ squares),
        np.full(n_groups, 1.0 / n_groups),
        jac=lambda weights: 2.0 * gram @ weights - squares,
        bounds=[(0.0, 1.0)] * n_groups,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1.0},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    center = mean_center(group_parameters) + solution.x @ offsets
    # The optimum is never worse than the mean; a failed solve must not be either.
    radius = distances_to(group_parameters, center).max()
    fallback = mean_center(group_parameters)
    return center if radius <= distances_to(group_parameters, fallback).max() else fallback


CENTERS = {"mean": mean_center, "ball": ball_center}


def distances_to(group_parameters: Floats, center: Floats) -> Floats:
    """Return the distance ``r_k`` of every group's parameters from the centre."""
    return np.asarray(np.linalg.norm(group_parameters - center, axis=1))
