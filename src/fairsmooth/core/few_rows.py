"""Exact smooth scores of a linear model in NumPy: for few rows, and where there is no torch.

The same formulas as :mod:`fairsmooth.core.smoothing.linear`. For one row, calling torch
costs ten times what there is to compute; for many rows torch is the faster one.
"""

import math

import numpy as np
from scipy.special import erfc, expit

from fairsmooth._types import Floats
from fairsmooth.core.smoothing.linear_error import LINK_ERROR, linear_error, moved_logit
from fairsmooth.core.smoothing.mixtures import FINE, Rule, ranges

# Rows up to which NumPy is clearly the faster one (four times at 128 rows of 20 columns).
FEW = 128
# Rows larger than this have the score of their direction.
_HUGE = 1e100
_CHUNK = 4096


def few_linear_scores(parameters: Floats, X: Floats, *, sigma: float, link: str) -> Floats | None:
    r"""Return :math:`E\,g(\mu + sZ)` for every row of a linear model, or None where it overflows.

    Parameters
    ----------
    parameters : ndarray of shape (d + 1,)
        Weights, then the intercept.
    X : ndarray of shape (n, d)
        Rows; None is returned if one is not finite.
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
        # One sum tells: whatever infinities are in it, it is not finite.
        known = math.isfinite(float(mean.sum() + variance.sum()))
    return smooth_logits(mean, variance, link=link) if known else None


def smooth_logits(mean: Floats, variance: Floats, *, link: str) -> Floats:
    r"""Return :math:`E\,g(\mu + sZ)` for finite logits and variances; small ones have all digits.

    Examples
    --------
    >>> smooth_logits(np.array([0.0, 2.0]), np.array([1.0, 3.0]), link="probit")
    array([0.5       , 0.8413...])
    """
    if link == "probit":
        return _normal_cdf(mean / np.sqrt(1.0 + variance))
    if not variance.any():
        return np.asarray(expit(mean))
    return _logistic(mean, variance)


def linear_scores_and_intervals(
    parameters: Floats, X: Floats, *, sigma: float, link: str
) -> tuple[Floats, Floats]:
    """Return the smooth score of any number of rows, and the ends (n, 2) of its claimed error.

    Rows beyond 1e100 are worked on scaled down, with the intercept, and scaled up again as far as
    nothing overflows: by then the link's own width no longer counts.
    """
    pieces = [X[at : at + _CHUNK] for at in range(0, max(len(X), 1), _CHUNK)]
    scores = np.concatenate([_any_size(parameters, x, sigma, link) for x in pieces])
    if sigma > 0.0:
        error = _claimed(parameters, X, sigma, link)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            size = np.abs(X) @ np.abs(parameters[:-1]) + abs(parameters[-1])
            logits = X @ parameters[:-1] + parameters[-1]
        error = rounded_error(logits, size, n_features=X.shape[1], link=link)
    return scores, np.clip(np.stack([scores - error, scores + error], axis=1), 0.0, 1.0)


def _claimed(parameters: Floats, X: Floats, sigma: float, link: str) -> Floats:
    """Return the error of every row's score."""
    largest = np.maximum(np.abs(X).max(axis=1, initial=0.0), 1.0)
    unit = X / largest[:, None]
    scale = sigma * largest * np.sqrt(np.einsum("ij,ij->i", unit, unit) + largest**-2.0)
    length, bias = float(np.linalg.norm(parameters[:-1])), float(parameters[-1])
    options = {"n_features": X.shape[1], "sigma": sigma, "link": link}
    with np.errstate(over="ignore", invalid="ignore"):
        error = linear_error(length, bias, scale, **options)
    return np.asarray(np.fmin(error, 1.0))


def rounded_error(logits: Floats, size: Floats, *, n_features: int, link: str) -> Floats:
    """Return what rounding of logits does to scores without noise.

    ``size`` is what the sizes of a logit's products add up to.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        moved = moved_logit(size, n_features=n_features)
        low, score, high = (
            smooth_logits(end, np.zeros_like(end), link=link)
            for end in (logits - moved, logits, logits + moved)
        )
    return np.nan_to_num(np.maximum(high - score, score - low) + LINK_ERROR, nan=1.0)


def _any_size(parameters: Floats, X: Floats, sigma: float, link: str) -> Floats:
    scores = few_linear_scores(parameters, X, sigma=sigma, link=link)
    if scores is not None:
        return scores
    if sigma > 0.0:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            mean, scale = _scaled_down(parameters, X, sigma)
            return smooth_logits(mean, scale * scale, link=link)
    with np.errstate(over="ignore", invalid="ignore"):
        logits = X @ parameters[:-1] + parameters[-1]
    return np.asarray(expit(logits)) if link == "logistic" else _normal_cdf(logits)


def _scaled_down(parameters: Floats, X: Floats, sigma: float) -> tuple[Floats, Floats]:
    """Return logits and their standard deviations, at most 1e100: by then only the ratio counts."""
    shrink = _HUGE / np.maximum(np.abs(X).max(axis=1, initial=0.0), _HUGE)
    small = X * shrink[:, None]
    mean = small @ parameters[:-1] + parameters[-1] * shrink
    scale = sigma * np.hypot(np.sqrt(np.einsum("ij,ij->i", small, small)), shrink)
    grow = np.minimum(1.0 / shrink, _HUGE / np.maximum(np.abs(mean), scale))
    return mean * grow, scale * grow


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
