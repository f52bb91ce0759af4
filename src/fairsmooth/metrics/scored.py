"""Rows scored once, so that every metric of an audit reads the same numbers."""

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._types import Floats, Labels
from fairsmooth.core.certificate import Certificate
from fairsmooth.data.groups import Groups, encode_groups, match_groups
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.group import positive_label
from fairsmooth.metrics.rates import rate_samples

Bools = NDArray[np.bool_]
# Before the name of a rate of scores, taken as probabilities of a positive decision.
EXPECTED = "expected_"


@dataclass(frozen=True)
class ScoredRows:
    """What an audit needs to know of every row.

    Attributes
    ----------
    y : ndarray of shape (n,) or None
        True labels, 1 for the positive one; None where they are not known.
    groups : Groups
        The group of every row.
    scores : ndarray of shape (n,) or None
        Score of the overall classifier, the probability of a positive decision; None
        where there is no score in [0, 1].
    decisions : ndarray of shape (n,)
        Its decisions.
    own_scores : ndarray of shape (n, K) or None
        Score of every group's own classifier for every row; None where the
        classifier has no certificate.
    agreed : ndarray of shape (n, K) or None
        Whether the certificate proves that the group's own classifier decides alike.
    threshold : float or None
        A decision is positive where the score exceeds this; None where decisions were
        made some other way.
    certificate : Certificate or None
    ranking : ndarray of shape (n,) or None
        Any numbers that order the rows; the scores where left out.
    """

    y: Labels | None
    groups: Groups
    scores: Floats | None
    decisions: Bools
    own_scores: Floats | None = None
    agreed: Bools | None = None
    threshold: float | None = None
    certificate: Certificate | None = None
    ranking: Floats | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.decisions)

    @property
    def truth(self) -> Labels:
        """The labels, where they must be known."""
        if self.y is None:
            raise InputError("Expected a label for every row, got rows without labels.")
        return self.y

    @property
    def probabilities(self) -> Floats:
        """The scores, where they must be known."""
        if self.scores is None:
            raise InputError("Expected scores in [0, 1], got decisions or other scores only.")
        return self.scores

    @cached_property
    def samples(self) -> dict[str, dict[str, list[Floats]]]:
        """What every rate is the mean of: of decisions (""), and of scores ("expected_")."""
        return {
            kind: rate_samples(each, self.y, self.groups) for kind, each in self.by_kind().items()
        }

    def by_kind(self) -> dict[str, Bools | Floats]:
        """Return decisions (""), and the scores ("expected_") where there are any."""
        kinds: dict[str, Bools | Floats] = {"": self.decisions}
        return kinds if self.scores is None else {**kinds, EXPECTED: self.scores}

    @property
    def own(self) -> Floats:
        """Score of every row by the own classifier of its group."""
        if self.own_scores is None:
            raise InputError("Expected a classifier with a certificate, got one without.")
        return np.asarray(self.own_scores[np.arange(self.n_rows), self.groups.codes])

    @property
    def epsilons(self) -> Floats:
        """The certified bound of every group, in the order of the groups."""
        if self.certificate is None:
            raise InputError("Expected a classifier with a certificate, got one without.")
        return np.array([self.certificate.epsilon_by_group[g] for g in self.groups.labels])


def score_rows(clf: Any, X: Any, y: Any, *, sensitive_features: Any) -> ScoredRows:
    """Score rows by a fitted classifier, and by every group's own if it has a certificate.

    A pipeline that ends in a classifier with a certificate is audited as that classifier, on
    the rows as the earlier steps transform them. A classifier without ``predict_proba``
    decides by ``predict``, and its ``decision_function``, if it has one, orders the rows.
    """
    clf, X = last_certified(clf, X)
    if not hasattr(clf, "predict_proba"):
        return _predicted_rows(clf, X, y, sensitive_features=sensitive_features)
    labels = None if y is None else _codes(y, clf.classes_)
    certificate = getattr(clf, "certificate_", None)
    scores, intervals = _scores_and_intervals(clf, X, certified=certificate is not None)
    if labels is not None:
        _validate.same_length(X=scores, y=labels)
    if certificate is None:
        groups = encode_groups(sensitive_features, n_rows=len(scores))
    else:
        groups = match_groups(sensitive_features, tuple(clf.groups_), n_rows=len(scores))
    threshold = float(getattr(clf, "threshold_", 0.5))
    decisions = decide(clf, X, scores)
    own, agreed = None, None
    if intervals is not None:
        own = np.column_stack([clf.predict_proba_group(X, g)[:, 1] for g in groups.labels])
        agreed = _agreed(intervals, threshold)
    return ScoredRows(labels, groups, scores, decisions, own, agreed, threshold, certificate)


def last_certified(clf: Any, X: Any) -> tuple[Any, Any]:
    """Return the classifier of a pipeline and the rows as it sees them, if it is certified."""
    while _is_pipeline(clf) and _certified(clf):
        if len(clf) > 1:
            X = clf[:-1].transform(X)
        clf = clf[-1]
    return clf, X


def _certified(clf: Any) -> bool:
    return _certified(clf[-1]) if _is_pipeline(clf) else hasattr(clf, "certificate_")


def _is_pipeline(clf: Any) -> bool:
    # Whoever has one has imported its module; nobody else needs scikit-learn here.
    known = sys.modules.get("sklearn.pipeline")
    return known is not None and isinstance(clf, known.Pipeline)


def _predicted_rows(clf: Any, X: Any, y: Any, *, sensitive_features: Any) -> ScoredRows:
    predicted = np.asarray(clf.predict(X))
    classes = getattr(clf, "classes_", None)
    if classes is None:
        seen = predicted if y is None else np.union1d(np.asarray(y), predicted)
        positive = positive_label(np.unique(seen), None)
        labels = None if y is None else np.asarray(np.asarray(y) == positive, dtype=np.int64)
    else:
        positive = classes[1]
        labels = None if y is None else _codes(y, classes)
    if labels is not None:
        _validate.same_length(X=predicted, y=labels)
    ranking = None
    if hasattr(clf, "decision_function"):
        ranking = np.asarray(clf.decision_function(X), dtype=np.float64)
    groups = encode_groups(sensitive_features, n_rows=len(predicted))
    return ScoredRows(labels, groups, None, np.asarray(predicted == positive), ranking=ranking)


def _scores_and_intervals(clf: Any, X: Any, *, certified: bool) -> tuple[Floats, Floats | None]:
    if not certified:
        return positive_scores(clf, X), None
    # One pass over the rows where the classifier offers it, for each smooths anew.
    if hasattr(clf, "predict_with_interval"):
        scores, intervals = clf.predict_with_interval(X)
        return np.asarray(scores, dtype=np.float64), intervals
    return positive_scores(clf, X), clf.predict_interval(X)


def positive_scores(clf: Any, X: Any) -> Floats:
    """Return the score of the positive class, the second of ``classes_``."""
    return np.asarray(clf.predict_proba(X), dtype=np.float64)[:, 1]


def decide(clf: Any, X: Any, scores: Floats) -> Bools:
    """Return whether each row is decided positive, at the classifier's own threshold."""
    if hasattr(clf, "threshold_"):
        return np.asarray(scores > clf.threshold_)
    return np.asarray(np.asarray(clf.predict(X)) == clf.classes_[1])


def _agreed(ends: Floats, threshold: float) -> Bools:
    """Return where a group's own score is proved to be on the same side of the threshold.

    ``ends`` (n, K, 2) are certified intervals that allow for the error of the scores.
    """
    return np.asarray((ends[..., 0] > threshold) | (ends[..., 1] <= threshold))


def _codes(y: Any, classes: NDArray[Any]) -> NDArray[np.int64]:
    labels = np.asarray(y)
    if labels.ndim != 1 or not len(labels):
        raise InputError(f"Expected y with one label per row, got shape {labels.shape}.")
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise InputError(
            f"Expected y among the labels of the classifier, {np.asarray(classes).tolist()}, "
            f"got {unknown.tolist()}."
        )
    return np.asarray(labels == classes[1], dtype=np.int64)
