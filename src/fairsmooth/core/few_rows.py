"""Exact smooth scores of a linear model in NumPy, for few rows.

The same formulas as :mod:`fairsmooth.core.smoothing.linear`. For one row, calling torch
costs ten times what there is to compute; for many rows torch is the faster one.
"""

import math

import numpy as np
from scipy.special import erfc, expit

from fairsmooth._types import Floats
from fairsmooth.core.smoothing.mixtures import FINE, Rule, ranges

# Rows up to which NumPy is clearly the faster one (four times at 128 rows of 20 columns).
FEW = 128


def few_linear_scores(parameters: Floats, X: Floats, *, sigma: float, link: str) -> Floats | None:
    r"""Return :math:`E\,g(\mu + sZ)` for every row of a linear model, or None where it overflows.

    Parameters
    ----------
    parameters : ndarray of shape (d + 1,)
        Weights, then the intercept.
    X : ndarray of shape (n, d)
        Finite rows.
    sigma : float
        Standard deviation of the smoothing noise.
    link : {"logistic", "probit"}
        What turns the logit into a score.

    Examples
    --------
    >>> few_linear_scores(np.array([2.0, 0.0]), np.array([[1.0]]), sigma=0.0, link="logistic")
    array([0.8807...])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean = X @ parameters[:-1] + parameters[-1]
        variance = sigma * sigma * (np.einsum("ij,ij->i", X, X) + 1.0)
    # One sum tells, since neither has an infinity of both signs without a NaN.
    if not math.isfinite(float(mean.sum() + variance.sum())):
        return None
    if link == "probit":
        return _normal_cdf(mean / np.sqrt(1.0 + variance))
    if sigma == 0.0:
        return np.asarray(expit(mean))
    return _logistic(mean, variance)


def _logistic(mean: Floats, variance: Floats) -> Floats:
    """Give every row the rule of its own scale."""
    scale = np.sqrt(variance)
    used = ranges(FINE, float(scale.min(initial=np.inf)), float(scale.max(initial=0.0)))
    if len(used) == 1:
        return _mixture(mean, variance, used[0][0])
    scores = np.empty_like(mean)
    for rule, low, high in used:
        rows = (scale >= low) & (scale < high)
        scores[rows] = _mixture(mean[rows], variance[rows], rule)
    return scores


def _mixture(mean: Floats, variance: Floats, rule: Rule) -> Floats:
    variances, shares = rule.normals
    spread = np.sqrt(variance[:, None] + variances)
    return np.minimum(_normal_cdf(mean[:, None] / spread) @ shares, 1.0)


def _normal_cdf(x: Floats) -> Floats:
    return np.asarray(0.5 * erfc(x * -math.sqrt(0.5)))
