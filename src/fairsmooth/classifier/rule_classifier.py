"""Classifiers whose predictions come from one frozen rule."""

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from fairsmooth._types import Floats, Labels
from fairsmooth.classifier.group_classifier import GroupClassifier, both_classes
from fairsmooth.classifier.warm_start import Known, first_parameters
from fairsmooth.core.rows import CodedRows, DenseRows, Rows, SparseRows
from fairsmooth.core.rule_holder import RuleHolder
from fairsmooth.data.given_groups import given_groups, refuse_lazy
from fairsmooth.data.groups import Groups, some_rows
from fairsmooth.data.row_weights import comparable
from fairsmooth.exceptions import InputError
from fairsmooth.training.example import Example


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
        fitted = dict(vars(self))
        try:
            return self._fit_rows(X, y, sensitive_features, sample_weight)
        except (InputError, ValueError):
            if getattr(self, "warm_start", False):
                self.__dict__ = fitted  # or the next call would begin anew, and not say so
            raise

    def _fit_rows(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> Self:
        earlier = vars(self).get("rule_") if getattr(self, "warm_start", False) else None
        known = Known.of(self)
        self._forget()
        sensitive_features = given_groups(sensitive_features)
        rows, y = self._validated(X, y)
        weights = None
        if sample_weight is not None:
            weights = comparable(
                _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
            )
        used = slice(None) if weights is None or (weights > 0).all() else weights > 0
        codes = self._encode_labels(y[used])
        groups = self._encode_groups(some_rows(sensitive_features, used), codes)
        self.groups_ = groups.labels
        start = None
        if earlier is not None:
            start = first_parameters(earlier, known, Known.of(self), rows)
        if weights is not None:
            rows, weights = rows.take(used), weights[used]
        names = getattr(self, "feature_names_in_", None)
        self._learn(Example(rows, codes, groups, weights, names), start)
        return self

    def fit_share(self, example: Example) -> Self:
        """Learn from rows that are encoded and checked, perhaps a share that one rank holds.

        Labels are 0 and 1, which become the classes; the groups of the example are those of all
        ranks, each of which must call this. All end with the same parameters and certificate.
        """
        self._forget()
        self.classes_, self.groups_ = np.array([0, 1]), example.groups.labels
        self.n_features_in_ = example.X.shape[1]
        if example.names is not None:
            self.feature_names_in_ = np.array(example.names, object)
        self._learn(example, None)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of both classes, shape (n, 2); no group is needed."""
        return both_classes(self._scored(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row: the positive one where its score exceeds the threshold."""
        scores = self._scored(X)
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
        refuse_lazy(X)
        options: Any = {"accept_sparse": "csr", "accept_large_sparse": True}
        X, y = validate_data(
            self, _added_up(X), y, dtype=np.float64, order="C", force_writeable=True, **options
        )
        return (SparseRows(X) if issparse(X) else DenseRows(X)), y

    def _scored(self, X: Any) -> Floats:
        """Return the scores of rows, checked but for what scoring itself notices."""
        check_is_fitted(self)
        if not (self.rule_.notices_infinity and self._is_array_as_fitted(X)):
            return self._scores(self._checked(X))
        try:
            return self._scores(X)
        except InputError:
            self._checked(X)  # in scikit-learn's words, if it is what scikit-learn refuses
            raise

    def _is_array_as_fitted(self, X: Any) -> bool:
        """Tell whether scikit-learn's checks could refuse an array only for entries not finite."""
        return bool(
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and len(X)
            and X.flags.c_contiguous
            and not hasattr(self, "feature_names_in_")
        )

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        if isinstance(X, CodedRows):
            return self._own_columns(X)
        refuse_lazy(X)
        if issparse(X):
            options: Any = {"accept_sparse": "csr", "dtype": np.float64, "reset": False}
            return SparseRows(validate_data(self, _added_up(X), **options))
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


def _added_up(X: Any) -> Any:
    """Return rows with the entries of one place, which stand for their sum, added.

    Lengths of rows and scales of columns are found entry by entry. They are added in the type
    that they have, as SciPy does wherever it adds them: true and true is true, not 2.
    """
    if issparse(X) and X.format in ("csr", "csc") and not X.has_canonical_format:
        X = X.copy()  # it is the caller's
        X.sum_duplicates()
    return X
