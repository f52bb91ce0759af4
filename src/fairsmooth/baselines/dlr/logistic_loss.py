"""DLR's objective: the mean logistic loss, undefined where the authors' is."""

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.baselines.dlr.counted_rows import CountedRows

# Scores up to this have probabilities that double precision tells from 0 and 1.
_SAFE = 36.0


class LogisticLoss:
    r"""Mean logistic loss and a ridge penalty on all coefficients, as the authors have it.

    Parameters
    ----------
    rows : CountedRows
        The sample.
    penalty : float
        Of the squared length of the coefficients.
    as_published : bool
        The authors compute :math:`-y \log p - (1 - y) \log(1 - p)` from the rounded
        probability :math:`p`. Where :math:`p` is 1 (score above 36.7) or 0 (below -745),
        this is :math:`0 \cdot \infty`, not a number, for a row that is right, and infinite
        for one that is wrong. Their solver takes no such step, so that this bounds the
        coefficients. ``False`` gives the value that the formula stands for.
    """

    def __init__(self, rows: CountedRows, penalty: float, *, as_published: bool) -> None:
        by_label = rows.counts.sum(axis=2)
        self._rows = rows
        self._negative, self._positive = by_label[:, 0], by_label[:, 1]
        self._all = by_label.sum(axis=1)
        self._size = float(self._all.sum())
        self._penalty = penalty
        self._as_published = as_published
        self.n_coefficients = rows.matrix.shape[1]
        share = float(self._positive.sum()) / self._size
        self.majority = max(share, 1.0 - share)

    def value(self, coefficients: Floats) -> float:
        """Return the loss; NaN or infinite where the authors' is."""
        scores = self._rows.scores(coefficients)
        size = np.abs(scores)
        if self._as_published and size.max() > _SAFE:
            undefined = self._undefined(scores)
            if undefined is not None:
                return undefined
        softplus = np.maximum(scores, 0.0) + np.log(1.0 + np.exp(-size))
        loss = (self._all @ softplus - self._positive @ scores) / self._size
        return float(loss + self._penalty * coefficients @ coefficients)

    def gradient(self, coefficients: Floats) -> Floats:
        """Return the derivative, shape (d,); defined everywhere, with the authors too."""
        scores = self._rows.scores(coefficients)
        small = np.exp(-np.abs(scores))
        residual = self._all * np.where(scores >= 0.0, 1.0, small) / (1.0 + small) - self._positive
        slope = residual @ self._rows.matrix / self._size
        return np.asarray(slope + 2.0 * self._penalty * coefficients)

    def accuracy(self, coefficients: Floats) -> float:
        """Return the share of rows on the right side, with ties positive."""
        decided = self._rows.scores(coefficients) >= 0.0
        right = np.where(decided, self._positive, self._negative).sum()
        return float(right) / self._size

    def _undefined(self, scores: Floats) -> float | None:
        """Return NaN or infinity where the authors' loss is that, else None."""
        small = np.exp(-np.abs(scores))
        one = (scores > 0.0) & (1.0 + small == 1.0)
        zero = (scores < 0.0) & (small == 0.0)
        if (one & (self._positive > 0)).any() or (zero & (self._negative > 0)).any():
            return np.nan
        return np.inf if one.any() or zero.any() else None
