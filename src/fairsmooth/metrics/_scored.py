"""Rows scored once, so that every metric of an audit reads the same numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._types import Floats
from fairsmooth.core.certificate import Certificate
from fairsmooth.data.groups import Groups, encode_groups, match_groups
from fairsmooth.exceptions import InputError

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ScoredRows:
    """What an audit needs to know of every row.

    Attributes
    ----------
    y : ndarray of shape (n,)
        True labels, 1 for the positive one.
    groups : Groups
        The group of every row.
    scores : ndarray of shape (n,)
        Score of the overall classifier, the probability of a positive decision.
    decisions : ndarray of shape (n,)
        Its decisions at the threshold.
    own_scores : ndarray of shape (n, K) or None
        Score of every group's own classifier for every row; None where the
        classifier has no certificate.
    agreed : ndarray of shape (n, K) or None
        Whether the certificate proves that the group's own classifier decides alike.
    threshold : float
        A decision is positive where the score exceeds this.
    certificate : Certificate or None
    """

    y: NDArray[np.int64]
    groups: Groups
    scores: Floats
    decisions: Bools
    own_scores: Floats | None
    agreed: Bools | None
    threshold: float
    certificate: Certificate | None

    @property
    def own(self) -> Floats:
        """Score of every row by the own classifier of its group."""
        if self.own_scores is None:
            raise InputError("Expected a classifier with a certificate, got one without.")
        return np.asarray(self.own_scores[np.arange(len(self.y)), self.groups.codes])

    @property
    def epsilons(self) -> Floats:
        """The certified bound of every group, in the order of the groups."""
        if self.certificate is None:
            raise InputError("Expected a classifier with a certificate, got one without.")
        return np.array([self.certificate.epsilon_by_group[g] for g in self.groups.labels])


def score_rows(clf: Any, X: Any, y: Any, *, sensitive_features: Any) -> ScoredRows:
    """Score rows by a fitted classifier, and by every group's own if it has a certificate."""
    labels = _codes(y, clf.classes_)
    scores = positive_scores(clf, X)
    _validate.same_length(X=scores, y=labels)
    certificate = getattr(clf, "certificate_", None)
    if certificate is None:
        groups = encode_groups(sensitive_features, n_rows=len(labels))
    else:
        groups = match_groups(sensitive_features, tuple(clf.groups_), n_rows=len(labels))
    threshold = float(getattr(clf, "threshold_", 0.5))
    decisions = decide(clf, X, scores)
    own, agreed = None, None
    if certificate is not None:
        own = np.column_stack([clf.predict_proba_group(X, g)[:, 1] for g in groups.labels])
        agreed = _agreed(clf.predict_interval(X), threshold)
    return ScoredRows(labels, groups, scores, decisions, own, agreed, threshold, certificate)


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
