"""Centres and distances of the groups' parameters."""

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.core.outward import norms_up, ordered_sum


def mean_center(group_parameters: Floats) -> Floats:
    """Return the average ``W* = (W_1 + … + W_K) / K``, the paper's overall parameters.

    The same bits on every machine: the order of the additions is fixed.
    """
    # Averaging offsets from the first group is exact when all groups are equal.
    first = group_parameters[0]
    return np.asarray(first + ordered_sum(group_parameters - first) / len(group_parameters))


def ball_center(group_parameters: Floats) -> Floats:
    r"""Return the centre of the smallest ball that holds every group's parameters.

    An extension of the paper. By Jung's theorem the largest distance to this
    centre is at most :math:`d\sqrt{(K-1)/2K}`, never more than the largest
    distance to the mean. The centre is a convex combination of the ``W_k``
    whose weights solve the dual, a concave quadratic programme over the simplex.
    Its last digits may differ between machines, so a model file keeps the centre
    itself; the distances from it are what is certified.
    """
    # Loaded when used: the paper's centre, the mean, needs no optimiser.
    from scipy.optimize import minimize

    group_parameters = np.ascontiguousarray(group_parameters)
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
    fallback = mean_center(group_parameters)
    radius = norms_up(group_parameters - center).max()
    return center if radius <= norms_up(group_parameters - fallback).max() else fallback


CENTERS = {"mean": mean_center, "ball": ball_center}
