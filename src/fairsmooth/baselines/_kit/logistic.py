"""Weighted logistic regression on fixed rows, solved again and again from a warm start."""

import math
import warnings
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from fairsmooth._types import Floats
from fairsmooth.baselines._kit.merged_rows import merged_rows

# Below this share of nonzeros a compressed product beats a dense one.
_SPARSE_BELOW = 0.3

# A step that leaves more of the decrement than this was taken with curvature too old.
_PROGRESS = 0.25

# Armijo's share of the fall that the slope promises, and how often a step is halved.
_SUFFICIENT, _HALVINGS = 1e-4, 60

# A fall of this share of the objective is lost in rounding.
_ROUNDING = 1e-14

# Keeps the curvature invertible where no row has weight.
_FLOOR = 1e-8


class _Curvature(NamedTuple):
    """The inverse of the second derivative, and the weight of all rows where it was taken."""

    inverse: Floats
    weight: float


class WeightedLogistic:
    r"""Logistic regression whose weights change while its rows do not.

    The objective, with a weight for either label of every row, is

    .. math:: \sum_i a_i \log(1 + e^{-f_i}) + \sum_i b_i \log(1 + e^{f_i})
              + \tfrac{\lambda}{2} \lVert w \rVert^2, \qquad f_i = w \cdot x_i + c,

    convex, with one minimum; so where the solver starts changes its time, not
    its answer. Equal rows are merged and mostly empty rows compressed once,
    when the problem is made. Newton's steps are taken with the curvature of an earlier
    solution, scaled to the weight of today's rows, and with a new one when it no longer
    helps; with new curvature a step is halved until the objective falls.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The rows.
    penalty : float
        The :math:`\lambda` above; the intercept is not penalised.
    tol : float
        The solver stops when Newton's decrement :math:`\sqrt{g^\top H^{-1} g}` is at most
        this; the objective is then within about ``tol ** 2 / 2`` of its minimum.
    max_iter : int
        Most steps of one solve.

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
        self._distinct = merged_rows(X)
        rows = self._distinct.rows
        sparse = np.count_nonzero(rows) < _SPARSE_BELOW * rows.size
        self._rows = csr_array(rows) if sparse else rows
        self._columns = self._rows.T  # made once: a compressed one takes time to make
        self._curvature: _Curvature | None = None
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
        pull = self._distinct.summed(positive)
        total = self._distinct.summed(positive + negative)
        weight = float(total.sum())
        at = np.zeros(self.n_coefficients) if start is None else start
        loss, gradient = self._loss_and_gradient(at, pull, total)
        fresh = self._curvature is None
        curvature = self._curvature or self._curvature_at(at, total)
        for _ in range(self.max_iter):
            step = curvature.inverse @ gradient * (curvature.weight / weight)
            fall = float(gradient @ step)
            if fall <= max(self.tol**2, _ROUNDING * abs(loss)):
                break
            then, found = at - step, self._loss_and_gradient(at - step, pull, total)
            left = float(found[1] @ curvature.inverse @ found[1]) * (curvature.weight / weight)
            helps = left <= _PROGRESS**2 * fall
            if not helps and fresh:
                then, found = self._halved(at, step, loss, fall, pull, total)
            if helps or fresh:
                at, (loss, gradient) = then, found
            if not helps:
                curvature, fresh = self._curvature_at(at, total), True
        else:
            self._tell(math.sqrt(fall))
        self._curvature = curvature
        return at

    def logits(self, coefficients: Floats) -> Floats:
        """Return the logits of all rows, shape (n,)."""
        return self._distinct_logits(coefficients)[self._distinct.number]

    def _distinct_logits(self, coefficients: Floats) -> Floats:
        return np.asarray(self._rows @ coefficients[:-1] + coefficients[-1])

    def _loss_and_gradient(
        self, coefficients: Floats, pull: Floats, total: Floats
    ) -> tuple[float, Floats]:
        logits = self._distinct_logits(coefficients)
        slopes = coefficients[:-1]
        small = np.exp(-np.abs(logits))
        rest = 1.0 + small
        loss = total @ (np.maximum(logits, 0.0) + np.log(rest)) - pull @ logits
        residual = total * np.where(logits >= 0.0, 1.0, small) / rest - pull
        gradient = np.append(self._columns @ residual + self.penalty * slopes, residual.sum())
        return float(loss + 0.5 * self.penalty * (slopes @ slopes)), gradient

    def _halved(
        self, at: Floats, step: Floats, loss: float, fall: float, pull: Floats, total: Floats
    ) -> tuple[Floats, tuple[float, Floats]]:
        """Return the first point along the step, halved again and again, where the loss falls."""
        share = 1.0
        for _ in range(_HALVINGS):
            found = self._loss_and_gradient(at - share * step, pull, total)
            if found[0] <= loss - _SUFFICIENT * share * fall:
                break
            share /= 2.0
        return at - share * step, found

    def _curvature_at(self, coefficients: Floats, total: Floats) -> _Curvature:
        """Return the inverse of the objective's second derivative."""
        score = expit(self._distinct_logits(coefficients))
        weight = total * score * (1.0 - score)
        curvature = np.diag(np.full(self.n_coefficients, self.penalty))
        product = self._columns @ (self._rows * weight[:, None])
        curvature[:-1, :-1] += product.toarray() if issparse(product) else product
        curvature[-1, :-1] = curvature[:-1, -1] = self._columns @ weight
        curvature[-1, -1] = weight.sum() + _FLOOR
        return _Curvature(np.linalg.inv(curvature), float(total.sum()))

    def _tell(self, decrement: float) -> None:
        warnings.warn(
            f"Logistic regression did not converge in {self.max_iter} steps: Newton's decrement "
            f"is {decrement:.1e}, not {self.tol:.0e}. "
            "Standardise the columns or raise the penalty.",
            ConvergenceWarning,
            stacklevel=3,
        )
