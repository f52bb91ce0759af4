"""The scikit-learn shell that every method here shares: checks in, probabilities out."""

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
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", force_writeable=True)
        codes = self._encode_labels(y)
        groups = self._encode_groups(sensitive_features, codes)
        self.groups_ = groups.labels
        self._fit(X, codes, groups)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of both classes, shape (n, 2); no group is needed."""
        scores = self._scores(self._checked(X))
        return np.column_stack([1.0 - scores, scores])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row: the positive one where its probability exceeds ½."""
        scores = self._scores(self._checked(X))
        return np.asarray(self.classes_[(scores > 0.5).astype(np.intp)])

    @abstractmethod
    def _fit(self, X: Floats, y: Labels, groups: Groups) -> None:
        """Learn; ``y`` is 0 or 1."""

    @abstractmethod
    def _scores(self, X: Floats) -> Floats:
        """Return the probability of the positive class of every row."""

    def _seed(self) -> int:
        random_state = getattr(self, "random_state", None)
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

    def _checked(self, X: Any) -> Floats:
        check_is_fitted(self)
        return np.asarray(
            validate_data(self, X, dtype=np.float64, order="C", reset=False, force_writeable=True)
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
