"""Fitting the one map that makes scores probabilities again."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtri

from fairsmooth._types import Floats, Labels
from fairsmooth.core.calibration import Calibration

# A slope below says that scores hardly rise with the chance of the label.
_LEAST_SLOPE = 1e-3
_LARGEST_SLOPE = 1e3
_EDGE = np.finfo(np.float64).eps


def fit_calibration(scores: Floats, y: Labels) -> Calibration:
    r"""Return the map :math:`\Phi(a\Phi^{-1}(p) + b)`, ``a > 0``, with the least log loss.

    A probit regression on the quantiles of the scores: the loss is convex in ``a`` and ``b``.
    One penalised row of either label, at the mean quantile, keeps the map finite where
    scores separate the labels.

    Examples
    --------
    >>> scores = np.array([0.2, 0.4, 0.4, 0.6, 0.6, 0.8])
    >>> fit_calibration(scores, np.array([0, 0, 1, 0, 1, 1])).slope > 0.0
    True
    """
    quantiles = ndtri(np.clip(scores, _EDGE, 1.0 - _EDGE))
    signs = 2.0 * y - 1.0
    middle = float(quantiles.mean())
    points = np.concatenate([quantiles, [middle + 1.0, middle - 1.0]])
    signs = np.concatenate([signs, [-1.0, 1.0]])

    def loss(unknown: Floats) -> tuple[float, Floats]:
        margin = signs * (unknown[0] * points + unknown[1])
        logs = log_ndtr(margin)
        # The derivative of log Φ is φ/Φ, from logarithms so that neither underflows.
        ratio = signs * np.exp(-0.5 * margin * margin - 0.5 * np.log(2.0 * np.pi) - logs)
        return -float(logs.mean()), -np.array([(ratio * points).mean(), ratio.mean()])

    share = float(np.clip(y.mean(), 0.01, 0.99))
    solved = minimize(
        loss,
        np.array([1.0, ndtri(share) - middle]),
        jac=True,
        bounds=[(_LEAST_SLOPE, _LARGEST_SLOPE), (None, None)],
        method="L-BFGS-B",
        options={"ftol": 1e-12, "gtol": 1e-8},
    )
    return Calibration(float(solved.x[0]), float(solved.x[1]))


def log_loss(scores: Floats, y: Labels) -> float:
    """Return the mean log loss, with scores kept off 0 and 1 by a rounding error."""
    chosen = np.where(y == 1, scores, 1.0 - scores)
    return -float(np.log(np.maximum(chosen, _EDGE)).mean())
