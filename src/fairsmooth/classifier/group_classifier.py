"""What a scikit-learn user expects around a method that learns with groups."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from fairsmooth._types import Floats, Labels
from fairsmooth.data.groups import Groups, encode_groups, require_trainable
from fairsmooth.exceptions import InputError

# Entries up to which checking an array directly is much faster than scikit-learn's way.
_SMALL = 4096


class GroupClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A binary classifier that learns with sensitive features and predicts without.

    A method implements :meth:`_fit` and :meth:`_scores`; everything a
    scikit-learn user expects around them is here.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels; the second is the positive one.
    groups_ : tuple
        Labels of the sensitive groups.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    """

    classes_: NDArray[Any]
    groups_: tuple[Hashable, ...]
    n_features_in_: int

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None) -> Self:
        """Learn from rows ``X``, labels ``y`` and the groups of the rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Numeric features, all finite.
        y : array-like of shape (n,)
            Labels of any type, two distinct values; the larger one is positive.
        sensitive_features : array-like of shape (n,) or (n, c)
            The group of every row. Several columns make intersectional groups.
        """
        self._forget()
        X, y = self._validated(X, y)
        codes = self._encode_labels(y)
        groups = self._encode_groups(sensitive_features, codes)
        self.groups_ = groups.labels
        self._fit(X, codes, groups)
        return self

    def _validated(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Return rows and labels as arrays, checked."""
        return validate_data(self, X, y, dtype=np.float64, order="C", force_writeable=True)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of both classes, shape (n, 2); no group is needed."""
        scores = self._scores(self._checked(X))
        return both_classes(scores)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row: the positive one where its probability exceeds ½."""
        scores = self._scores(self._checked(X))
        return np.asarray(self.classes_[(scores > 0.5).astype(np.intp)])

    def _forget(self) -> None:
        """Drop an earlier fit: a training that fails must leave no model with new labels."""

    @abstractmethod
    def _fit(self, X: Any, y: Labels, groups: Groups) -> None:
        """Learn; ``y`` is 0 or 1."""

    @abstractmethod
    def _scores(self, X: Floats) -> Floats:
        """Return the probability of the positive class of every row."""

    def _seed(self) -> int:
        random_state = getattr(self, "random_state", None)
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

    def _checked(self, X: Any) -> Floats:
        check_is_fitted(self)
        if self._is_plain(X):
            return np.asarray(X)
        return np.asarray(
            validate_data(self, X, dtype=np.float64, order="C", reset=False, force_writeable=True)
        )

    def _is_plain(self, X: Any) -> bool:
        """Tell whether ``X`` is a small array that scikit-learn's checks would return as it is.

        For one row those checks take longer than the score. Whatever is unusual goes
        through them, so that every message and warning is scikit-learn's.
        """
        return bool(
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and 0 < X.size <= _SMALL
            and X.flags.carray
            and not hasattr(self, "feature_names_in_")
            and np.isfinite(X).all()
        )

    def _encode_labels(self, y: NDArray[Any]) -> Labels:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            # The first sentence is the one scikit-learn's checks and users know.
            raise InputError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}. Expected 2 classes in y, got {len(self.classes_)}."
            )
        if len(self.classes_) < 2:
            raise InputError(
                f"Expected 2 classes in y, got 1 class: {self.classes_.tolist()} "
                f"(n_samples={len(y)})."
            )
        return np.asarray(codes, dtype=np.int64)

    def _encode_groups(self, sensitive_features: Any, y: Labels) -> Groups:
        groups = encode_groups(sensitive_features, n_rows=len(y))
        require_trainable(groups, y)
        return groups

    def __sklearn_tags__(self) -> Any:
        """Declare binary-only targets, as scikit-learn's checks ask."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def both_classes(scores: Floats) -> Floats:
    """Put the probabilities of the negative and the positive class side by side, (n, 2)."""
    stacked = np.empty((len(scores), 2))
    np.subtract(1.0, scores, out=stacked[:, 0])
    stacked[:, 1] = scores
    return stacked
