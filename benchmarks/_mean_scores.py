"""Seldonian-engine's way, by its formula: logistic models whose mean scores are bounded."""

import math

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import t


def penalised(X: np.ndarray, y: np.ndarray, group: np.ndarray, weight: float) -> np.ndarray:
    """Fit a logistic model with a penalty on the squared difference of mean scores."""
    sign = 2.0 * y - 1.0
    first = group == np.unique(group)[0]
    contrast = np.where(first, 1.0 / first.sum(), -1.0 / (~first).sum())

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        logit = X @ w[:-1] + w[-1]
        score = expit(logit)
        apart = float(contrast @ score)
        value = -log_expit(sign * logit).mean() + weight * apart**2 + 1e-5 * w[:-1] @ w[:-1]
        slope = -sign * expit(-sign * logit) / len(sign)
        slope += 2.0 * weight * apart * contrast * score * (1.0 - score)
        return value, np.append(X.T @ slope + 2e-5 * w[:-1], slope.sum())

    start = np.zeros(X.shape[1] + 1)
    return minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x


def student(
    scores: np.ndarray,
    group: np.ndarray,
    sizes: dict[str, int],
    *,
    error: float,
    width: float = 1.0,
) -> float:
    """Return the engine's bound: a quarter of the error at each end of each group's mean."""
    ends = []
    for name, n in sizes.items():
        own = scores[group == name]
        half = width * t.ppf(1 - error / 4, n - 1) * own.std(ddof=1) / math.sqrt(n)
        ends.append((own.mean() - half, own.mean() + half))
    return float(max(a[1] - b[0] for a in ends for b in ends if a is not b))
