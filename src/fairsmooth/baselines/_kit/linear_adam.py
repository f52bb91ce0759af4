"""Logistic regression by minibatch Adam, with the gradient in closed form."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.baselines._kit.distinct_rows import few_distinct_rows

Singles = NDArray[np.float32]

_DECAY_MEAN = 0.9
_DECAY_SQUARE = 0.999
_FLOOR = 1e-8
_MOST_RANKS = 2**16

# Numbers as arrays: NumPy takes longer to convert one than to use it.
_DECAYS = np.array([[_DECAY_MEAN], [_DECAY_SQUARE]], dtype=np.float32)
_ONE = np.array(1.0, dtype=np.float32)


class LinearAdam:
    r"""A linear logit :math:`f` trained on :math:`p = \varsigma(\text{slope} \cdot f)`.

    One step of Adam on the mean cross-entropy of a batch. The steps are those
    of ``torch.optim.Adam`` with its defaults, in float32; the closed-form
    gradient makes one about ten times as fast, which is what a hundred
    thousand tiny batches need.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training rows.
    y : ndarray of shape (n,)
        Labels 0 and 1.
    weights : ndarray of shape (d + 1,)
        Where to start: one weight per column, then the bias. Not changed.
    learning_rate : float
        Step size.
    slope : float
        Factor on the logit; 2 gives :math:`p = (\tanh f + 1) / 2`.

    Attributes
    ----------
    weights : ndarray of shape (d + 1,)
        Where training stands, in float32.

    Examples
    --------
    >>> model = LinearAdam(np.array([[-1.0], [1.0]]), np.array([0, 1]), np.zeros(2))
    >>> for _ in range(100):
    ...     model.step(np.array([0, 1]))
    >>> bool(model.losses().mean() < np.log(2))
    True
    """

    def __init__(
        self,
        X: Floats,
        y: NDArray[np.integer[Any]],
        weights: Floats,
        *,
        learning_rate: float = 1e-3,
        slope: float = 1.0,
    ) -> None:
        self.weights: Singles = weights.astype(np.float32)
        # Turned towards its label and halved, a row is all that a step needs of it:
        # (p - y) slope x = (tanh(r w) - 1) r with r = (y - 1/2) slope x.
        self._towards = np.where(y == 1, 1.0, -1.0)
        padded = np.column_stack([X, np.ones(len(X))])
        turned = padded * (0.5 * slope * self._towards)[:, None]
        # Row by row in memory: tables often come column by column, and taking the rows
        # of a batch from those costs a copy of everything.
        self._rows: Singles = np.ascontiguousarray(turned, dtype=np.float32)
        self._distinct = few_distinct_rows(self._rows, min(len(X) // 16, _MOST_RANKS))
        self._learning_rate = learning_rate
        # The gradient of a batch and its square, and their decaying sums over batches.
        self._both: Singles = np.zeros((2, len(weights)), dtype=np.float32)
        self._sums = np.zeros_like(self._both)
        self._gradient, self._squared = self._both
        self._sum, self._sum_of_squares = self._sums
        self._change = np.zeros_like(self.weights)
        self._n_steps = 0

    def step(self, batch: NDArray[np.integer[Any]]) -> None:
        """Take one step on the mean loss of the rows numbered in ``batch``."""
        rows = self._rows.take(batch, axis=0)
        residuals = np.tanh(rows @ self.weights)
        residuals -= _ONE
        np.dot(residuals, rows, out=self._gradient)
        self._gradient *= _single(1 / len(batch))
        np.multiply(self._gradient, self._gradient, out=self._squared)
        self._sums *= _DECAYS
        self._sums += self._both
        self._n_steps += 1
        mean_scale = (1 - _DECAY_MEAN) / (1 - _DECAY_MEAN**self._n_steps)
        spread_scale = math.sqrt((1 - _DECAY_SQUARE) / (1 - _DECAY_SQUARE**self._n_steps))
        change = np.sqrt(self._sum_of_squares, out=self._change)
        change += _single(_FLOOR / spread_scale)
        np.divide(self._sum, change, out=change)
        change *= _single(self._learning_rate * mean_scale / spread_scale)
        self.weights -= change

    def losses(self) -> Floats:
        """Return the cross-entropy of every training row against its own label."""
        if self._distinct is None:
            return _softplus(-self._margins(self._rows))
        return _softplus(-self._margins(self._distinct.rows)).take(self._distinct.number)

    def losses_against_positive(self) -> Floats:
        """Return the cross-entropy of every training row as if its label were 1."""
        if self._distinct is None:
            return _softplus(-self._margins(self._rows) * self._towards)
        margins = self._margins(self._distinct.rows)
        losses = np.stack([_softplus(margins), _softplus(-margins)])
        return losses[(self._towards > 0).astype(np.intp), self._distinct.number]

    def by_loss(self) -> NDArray[np.intp]:
        """Return the numbers of all rows by increasing loss, equal ones in their order."""
        if self._distinct is None:
            return np.argsort(self.losses(), kind="stable")
        losses = _softplus(-self._margins(self._distinct.rows))
        # Ranks in 16 bits, which are sorted by counting.
        ranks = np.unique(losses, return_inverse=True)[1].astype(np.uint16)
        return np.argsort(ranks.take(self._distinct.number), kind="stable")

    def _margins(self, rows: Singles) -> Floats:
        return 2.0 * (rows @ self.weights).astype(np.float64)


def linear_probabilities(X: Floats, weights: Singles, *, slope: float = 1.0) -> Floats:
    """Return the probability of the positive class for weights of :class:`LinearAdam`."""
    exact = weights.astype(np.float64)
    return _sigmoid(slope * (X @ exact[:-1] + exact[-1]))


def _sigmoid(logits: NDArray[Any]) -> NDArray[Any]:
    # Half of 1 + tanh never overflows, and is quicker on small batches than scipy's.
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logits)))


def _softplus(margins: Floats) -> Floats:
    # What logaddexp(0, margins) is, in a fifth of its time.
    return np.maximum(margins, 0.0) + np.log1p(np.exp(-np.abs(margins)))


def _single(number: float) -> NDArray[np.float32]:
    return np.array(number, dtype=np.float32)
