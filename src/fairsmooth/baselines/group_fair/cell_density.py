"""How likely every label and group is, given a row: P(y, z | x)."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from fairsmooth._types import Floats, Labels

# Keeps the conditional covariance invertible where a label follows from the row.
_FLOOR = 1e-6


class CellDensity(ABC):
    """An estimate of the probability of every cell of label and group, given the row."""

    @abstractmethod
    def cells(self, X: Floats) -> Floats:
        """Return P(y, z = k | x), shape (n, 2, K)."""


class GaussianCells(CellDensity):
    r"""One Gaussian over rows, labels and groups together, as the authors fit it.

    With :math:`v = (y, z)`, :math:`y = \pm 1` and :math:`z` the indicators of all
    groups but the first, the joint Gaussian makes :math:`v` given :math:`x` a
    Gaussian with mean :math:`m(x) = \bar v + \Sigma_{vx} \Sigma_{xx}^{+} (x -
    \bar x)` and one covariance :math:`S`; so

    .. math:: P(y, z \mid x) \propto
              \exp\bigl(-\tfrac12 (v - m(x))^\top S^{-1} (v - m(x))\bigr),

    normalised over the 2K values that :math:`v` can take. The pseudo-inverse
    lets columns be redundant.
    """

    def __init__(self, X: Floats, y: Labels, codes: NDArray[np.intp]) -> None:
        n_groups = int(codes.max()) + 1
        indicators = np.eye(n_groups)[:, 1:]
        values = np.column_stack([2.0 * y - 1.0, indicators[codes]])
        self.mean, self.value_mean = X.mean(axis=0), values.mean(axis=0)
        rows, values = X - self.mean, values - self.value_mean
        self.covariance = rows.T @ rows / len(X)
        self.slopes = np.linalg.pinv(self.covariance, hermitian=True) @ (rows.T @ values / len(X))
        rest = values - rows @ self.slopes
        self.precision = np.linalg.inv(rest.T @ rest / len(X) + _FLOOR * np.eye(rest.shape[1]))
        self.points = np.array([[sign, *row] for sign in (-1.0, 1.0) for row in indicators])

    def cells(self, X: Floats) -> Floats:
        """Return the normal densities of the cells, made to add up to 1."""
        means = self.value_mean + (X - self.mean) @ self.slopes
        away = self.points[None, :, :] - means[:, None, :]
        exponent = -0.5 * np.einsum("nci,ij,ncj->nc", away, self.precision, away)
        return np.asarray(softmax(exponent, axis=1)).reshape(len(X), 2, -1)

    def draw(self, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draw rows from the Gaussian."""
        return rng.multivariate_normal(self.mean, self.covariance, n_draws, method="svd")


class LogisticCells(CellDensity):
    """Multinomial logistic regression on the 2K cells."""

    def __init__(self, X: Floats, y: Labels, codes: NDArray[np.intp]) -> None:
        self.n_groups = int(codes.max()) + 1
        self.model = LogisticRegression(max_iter=1000).fit(X, y * self.n_groups + codes)

    def cells(self, X: Floats) -> Floats:
        """Return the regression's probabilities."""
        return np.asarray(self.model.predict_proba(X)).reshape(len(X), 2, self.n_groups)
