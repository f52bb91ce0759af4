"""The scikit-learn shell that every method here shares: checks in, probabilities out."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from fairsmooth._types import Floats, Labels
from fairsmooth.core.rows import CodedRows, DenseRows, Rows, SparseRows
from fairsmooth.core.rule import RuleHolder
from fairsmooth.data.groups import Groups, encode_groups, require_trainable, some_rows
from fairsmooth.exceptions import InputError
from fairsmooth.training.example import Example

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


class RuleClassifier(RuleHolder, GroupClassifier):
    """A classifier whose predictions come from one frozen rule: its own, and every group's.

    Rows may be an array or a data frame, a SciPy sparse matrix, or coded columns
    (:class:`fairsmooth.core.rows.CodedRows`); the latter two are never spelt out as a whole.
    """

    def fit(
        self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from rows ``X``, labels ``y`` and the groups of the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Numeric features, all finite. Sparse rows and coded columns
            (:meth:`fairsmooth.data.encoding.TableEncoder.encode`) stay as they are.
        y : array-like of shape (n,)
            Labels of any type, two distinct values; the larger one is positive.
        sensitive_features : array-like of shape (n,) or (n, c)
            The group of every row. Several columns make intersectional groups.
        sample_weight : array-like of shape (n,), optional
            How much each row counts, at least 0: 2 is a row given twice, 0 a row left out.
            A group's loss is the weighted mean over its rows.
        """
        earlier = vars(self).get("rule_") if getattr(self, "warm_start", False) else None
        known = (getattr(self, "groups_", None), getattr(self, "classes_", None))
        self._forget()
        rows, y = self._validated(X, y)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, y, dtype=np.float64, ensure_non_negative=True
            )
        used = slice(None) if weights is None or (weights > 0).all() else weights > 0
        codes = self._encode_labels(y[used])
        groups = self._encode_groups(some_rows(sensitive_features, used), codes)
        self.groups_ = groups.labels
        new = (self.groups_, self.classes_)
        start = None if earlier is None else earlier.warm_start(known, new, rows)
        if weights is not None:
            rows, weights = rows.take(used), weights[used]
        names = getattr(self, "feature_names_in_", None)
        self._learn(Example(rows, codes, groups, weights, names), start)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row: the positive one where its score exceeds the threshold."""
        scores = self._scores(self._checked(X))
        return np.asarray(self.classes_[(scores > self.threshold_).astype(np.intp)])

    def predict_proba_group(self, X: Any, group: Hashable) -> Floats:
        """Return the probabilities that the group's own smooth classifier gives, shape (n, 2)."""
        rows, position = self._checked(X), self._position(group)
        return both_classes(self.rule_.scores(rows, self.group_parameters_[position]))

    def predict_proba_free(self, X: Any, group: Hashable) -> Floats:
        """Return the probabilities of the group's classifier trained without the tie.

        As it was trained: neither shifted nor calibrated, as the groups' own may be.
        """
        rows, position = self._checked(X), self._position(group)
        if self.free_group_parameters_ is None:
            raise InputError("Expected a model fitted with free_reference=True, got one without.")
        return both_classes(self.rule_.smooth_scores(rows, self.free_group_parameters_[position]))

    def predict_interval(self, X: Any) -> Floats:
        """Return the certified interval of every group's own score, shape (n, K, 2).

        The error of computing the overall score is allowed for: near 0 and 1 a tiny
        error of the score moves the interval a long way. For linear models and one hidden
        layer that error is proven, but for two parts that are measured: the complex error
        function (2e-10 per unit), and, where a row's scales are too far apart for equal
        steps, the rule of growing intervals. Where smoothing is sampled, each row's interval
        holds with 99 % confidence over the draws.
        """
        return self.predict_with_interval(X)[1]

    def predict_with_interval(self, X: Any) -> tuple[Floats, Floats]:
        """Return the overall score (n,), as ``predict_proba`` has it, and :meth:`predict_interval`.

        Each row is smoothed once, where one way of smoothing gives both.
        """
        return self.rule_.scores_and_intervals(self._checked(X))

    def _scores(self, X: Floats | Rows) -> Floats:
        return self.rule_.scores(X, self.rule_.parameters)

    def _fit(self, X: Any, y: Labels, groups: Groups) -> None:
        self._learn(Example(X, y, groups), None)

    @abstractmethod
    def _learn(self, example: Example, start: Floats | None) -> None:
        """Learn, perhaps from parameters ``(K, m)`` on."""

    def _validated(self, X: Any, y: Any) -> tuple[Rows, NDArray[Any]]:
        if isinstance(X, CodedRows):
            y = column_or_1d(check_array(y, ensure_2d=False, dtype=None), warn=True)
            self.n_features_in_, self.feature_names_in_ = len(X.names), np.array(X.names, object)
            check_consistent_length(X.codes, y)
            return X, y
        options: Any = {"accept_sparse": "csr", "accept_large_sparse": True}
        X, y = validate_data(
            self, X, y, dtype=np.float64, order="C", force_writeable=True, **options
        )
        return (SparseRows(X) if issparse(X) else DenseRows(X)), y

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        if isinstance(X, CodedRows):
            if list(X.names) != list(getattr(self, "feature_names_in_", [])):
                raise InputError(
                    f"Expected coded columns with the {self.n_features_in_} features of the "
                    f"model, got {len(X.names)} features or others. Encode them by its encoder."
                )
            return X
        if issparse(X):
            options: Any = {"accept_sparse": "csr", "dtype": np.float64, "reset": False}
            return SparseRows(validate_data(self, X, **options))
        return super()._checked(X)

    def __sklearn_tags__(self) -> Any:
        """Declare that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _position(self, group: Hashable) -> int:
        check_is_fitted(self)
        if group not in self.groups_:
            raise InputError(f"Expected group to be one of {list(self.groups_)}, got {group!r}.")
        return self.groups_.index(group)
