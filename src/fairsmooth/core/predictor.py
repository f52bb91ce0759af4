"""A fitted classifier that only predicts, for installations without the libraries of training."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.core.rows import CodedRows, Rows
from fairsmooth.core.rule import FittedRule
from fairsmooth.core.rule_holder import RuleHolder
from fairsmooth.exceptions import InputError


class Predictor(RuleHolder):
    """The rule of a file with the labels of its groups and classes, and nothing to train it.

    It predicts what :class:`fairsmooth.FairSmoothClassifier` does, within the error that
    intervals allow for; ``fairsmooth.persistence`` gives it where torch or scikit-learn are
    not installed.

    Parameters
    ----------
    rule : FittedRule
    groups : tuple
    classes : ndarray of shape (2,)
    n_features : int
    names : list of str or None
        Of the features.
    """

    def __init__(
        self,
        rule: FittedRule,
        *,
        groups: tuple[Any, ...],
        classes: NDArray[Any],
        n_features: int,
        names: list[str] | None,
    ) -> None:
        self.rule_ = rule
        self.groups_ = groups
        self.classes_ = classes
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of both classes, shape (n, 2)."""
        scores = self.rule_.scores(self._checked(X), self.parameters_)
        return np.column_stack([1.0 - scores, scores])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row: the positive one where its score exceeds the threshold."""
        above = self.predict_proba(X)[:, 1] > self.threshold_
        return np.asarray(self.classes_[above.astype(np.intp)])

    def predict_interval(self, X: Any) -> Floats:
        """Return the certified interval of every group's own score, shape (n, K, 2)."""
        return self.predict_with_interval(X)[1]

    def predict_with_interval(self, X: Any) -> tuple[Floats, Floats]:
        """Return the overall score (n,) and :meth:`predict_interval`."""
        return self.rule_.scores_and_intervals(self._checked(X))

    def _checked(self, X: Any) -> Floats | Rows:
        if isinstance(X, CodedRows):
            return self._own_columns(X)
        rows = np.array(X, dtype=np.float64, order="C")
        if rows.ndim != 2 or rows.shape[1] != self.n_features_in_ or not np.isfinite(rows).all():
            raise InputError(
                f"Expected finite rows of {self.n_features_in_} features, got shape {rows.shape}."
            )
        return rows
