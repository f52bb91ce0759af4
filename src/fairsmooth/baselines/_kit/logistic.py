"""Weighted logistic regression on fixed rows, solved again and again from a warm start."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.sparse import csr_array, issparse
from scipy.special import expit

from fairsmooth._types import Floats

# Below this share of nonzeros a compressed product beats a dense one.
_SPARSE_BELOW = 0.3

# Evaluations in one solve after which the scaling is found anew.
_WORN_AFTER = 12

# Keeps the scaling invertible where no row has weight.
_FLOOR = 1e-8


class WeightedLogistic:
    r"""Logistic regression whose weights change while its rows do not.

    The objective, with a weight for either label of every row, is

    .. math:: \sum_i a_i \log(1 + e^{-f_i}) + \sum_i b_i \log(1 + e^{f_i})
              + \tfrac{\lambda}{2} \lVert w \rVert^2, \qquad f_i = w \cdot x_i + c,

    convex, with one minimum; so where the solver starts changes its time, not
    its answer. Equal rows are merged and mostly empty rows compressed once,
    when the problem is made. Steps are scaled by the curvature at an earlier
    solution, found anew when it no longer helps.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    penalty : float
        The :math:`\lambda` above; the intercept is not penalised.
    tol : float
        The solver stops when no entry of the scaled gradient exceeds this; the
        objective is then within about ``(d + 1) * tol ** 2 / 2`` of its minimum.
    max_iter : int
        Most iterations of one solve.

    Examples
    --------
    >>> problem = WeightedLogistic(np.array([[0.0], [1.0]]), penalty=1.0)
    >>> coefficients = problem.solve(np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    >>> problem.logits(coefficients).round(3)
    array([-0.222,  0.222])
    """

    def __init__(
        self, X: Floats, *, penalty: float, tol: float = 1e-4, max_iter: int = 200
    ) -> None:
        self._inverse, self._rows = _compressed(X)
        self._factor: Floats | None = None
        self.n_coefficients = X.shape[1] + 1
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter

    def solve(self, positive: Floats, negative: Floats, *, start: Floats | None = None) -> Floats:
        """Return the minimiser, shape (d + 1,), the intercept last.

        Parameters
        ----------
        positive, negative : ndarray of shape (n,)
            Weight of label 1 and of label 0 in every row, at least 0.
        start : ndarray of shape (d + 1,), optional
            Where to start; 0 by default.
        """
        pull, total = self._merged(positive), self._merged(positive + negative)
        first = np.zeros(self.n_coefficients) if start is None else start
        factor = self._curvature_factor(first, total) if self._factor is None else self._factor

        def scaled(position: Floats) -> tuple[float, Floats]:
            loss, gradient = self._loss_and_gradient(
                solve_triangular(factor, position, trans="T", lower=True), pull, total
            )
            return loss, solve_triangular(factor, gradient, lower=True)

        result = minimize(
            scaled,
            factor.T @ first,
            jac=True,
            method="L-BFGS-B",
            options={"gtol": self.tol, "ftol": 1e-14, "maxiter": self.max_iter},
        )
        found = np.asarray(solve_triangular(factor, result.x, trans="T", lower=True))
        worn = self._factor is None or result.nfev > _WORN_AFTER
        self._factor = self._curvature_factor(found, total) if worn else factor
        return found

    def logits(self, coefficients: Floats) -> Floats:
        """Return the logits of all rows, shape (n,)."""
        return self._distinct_logits(coefficients)[self._inverse]

    def _distinct_logits(self, coefficients: Floats) -> Floats:
        return np.asarray(self._rows @ coefficients[:-1] + coefficients[-1])

    def _merged(self, weights: Floats) -> Floats:
        merged = np.bincount(self._inverse, weights, minlength=self._rows.shape[0])
        return np.asarray(merged, dtype=np.float64)

    def _loss_and_gradient(
        self, coefficients: Floats, pull: Floats, total: Floats
    ) -> tuple[float, Floats]:
        logits = self._distinct_logits(coefficients)
        slopes = coefficients[:-1]
        small = np.exp(-np.abs(logits))
        loss = total @ (np.maximum(logits, 0.0) + np.log1p(small)) - pull @ logits
        residual = total * np.where(logits >= 0.0, 1.0, small) / (1.0 + small) - pull
        gradient = np.append(residual @ self._rows + self.penalty * slopes, residual.sum())
        return float(loss + 0.5 * self.penalty * (slopes @ slopes)), gradient

    def _curvature_factor(self, coefficients: Floats, total: Floats) -> Floats:
        """Return the Cholesky factor of the objective's second derivative."""
        score = expit(self._distinct_logits(coefficients))
        weight = total * score * (1.0 - score)
        weighted = self._rows * weight[:, None]
        curvature = np.diag(np.full(self.n_coefficients, self.penalty))
        product = self._rows.T @ weighted
        curvature[:-1, :-1] += product.toarray() if issparse(product) else product
        curvature[-1, :-1] = curvature[:-1, -1] = weight @ self._rows
        curvature[-1, -1] = weight.sum() + _FLOOR
        return np.asarray(cholesky(curvature, lower=True))


def _compressed(X: Floats) -> tuple[NDArray[np.intp], Any]:
    rows, inverse = np.unique(X, axis=0, return_inverse=True)
    sparse = np.count_nonzero(rows) < _SPARSE_BELOW * rows.size
    return inverse.reshape(-1), csr_array(rows) if sparse else rows
