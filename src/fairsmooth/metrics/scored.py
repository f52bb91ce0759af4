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
from fairsmooth.data.given_groups import given_groups
from fairsmooth.data.groups import Groups, encode_groups, match_groups
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.group import positive_label
from fairsmooth.metrics.intervals import Bounds, binomial_bounds, bounded_mean_bounds
from fairsmooth.metrics.own import Bools, Distances, own_rows
from fairsmooth.metrics.rates import RATES, rate_samples
from fairsmooth.metrics.samples import Samples, order_by

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
    own_scores : ndarray of shape (n,) or None
        Score of every row by the own classifier of its group; None where the
        classifier has no certificate.
    agreed : ndarray of shape (n,) or None
        Whether the certificate proves that this own classifier decides alike.
    distances : tuple of Distances or None
        Of each group, how far its own classifier's scores are from the overall ones, on all rows.
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
    distances: "tuple[Distances, ...] | None" = None
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
    def samples(self) -> dict[str, dict[str, Samples]]:
        """What every rate is the mean of: of decisions (""), and of scores ("expected_").

        Of each a sample per group, then all rows.
        """
        return {kind: self._samples(each) for kind, each in self.by_kind().items()}

    @cached_property
    def bounds(self) -> dict[str, dict[str, Bounds]]:
        """The interval of every such mean as a function of its error; of decisions it is exact."""
        return {
            kind: {
                name: bounded_mean_bounds(each) if kind else binomial_bounds(each.sums, each.counts)
                for name, each in samples.items()
            }
            for kind, samples in self.samples.items()
        }

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The numbers of all rows, group by group."""
        return order_by(self.groups.codes, len(self.groups.labels))

    @cached_property
    def members(self) -> list[NDArray[np.intp]]:
        """The numbers of each group's rows: looking for them group by group reads all rows."""
        return np.split(self.order, np.cumsum(self.groups.counts)[:-1])

    def within_groups(self, values: NDArray[Any]) -> Samples:
        """Return values of all rows: one sample per group."""
        return Samples(values[self.order].astype(np.float64, copy=False), self.groups.counts)

    def _samples(self, scores: Bools | Floats) -> dict[str, Samples]:
        y, everybody = self.y, self.groups.counts
        counts = dict.fromkeys(RATES, everybody)
        if y is not None:
            positive = np.bincount(self.groups.codes[y == 1], minlength=len(everybody))
            counts |= {RATES[1]: positive, RATES[2]: everybody - positive}
        alone = Groups((), self.groups.codes)
        whole = rate_samples(scores, y, alone)
        parts = rate_samples(scores[self.order], None if y is None else y[self.order], alone)
        return {
            name: Samples(parts[name][0], counts[name]).followed_by(each)
            for name, (each,) in whole.items()
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
        return self.own_scores

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
    if certificate is None:
        scores = positive_scores(clf, X)
        groups = encode_groups(given_groups(sensitive_features), n_rows=len(scores))
        own = None
    else:
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        given = given_groups(sensitive_features)
        groups = match_groups(given, tuple(clf.groups_), n_rows=n_rows)
        own = own_rows(clf, X, groups)
        scores = own.scores
    if labels is not None:
        _validate.same_length(X=scores, y=labels)
    threshold = float(getattr(clf, "threshold_", 0.5))
    decisions = decide(clf, X, scores)
    if own is None:
        return ScoredRows(labels, groups, scores, decisions, threshold=threshold)
    beside = own.own_scores, own.agreed, own.distances
    return ScoredRows(labels, groups, scores, decisions, *beside, threshold, certificate)


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
    groups = encode_groups(given_groups(sensitive_features), n_rows=len(predicted))
    return ScoredRows(labels, groups, None, np.asarray(predicted == positive), ranking=ranking)


def positive_scores(clf: Any, X: Any) -> Floats:
    """Return the score of the positive class, the second of ``classes_``."""
    return np.asarray(clf.predict_proba(X), dtype=np.float64)[:, 1]


def decide(clf: Any, X: Any, scores: Floats) -> Bools:
    """Return whether each row is decided positive, at the classifier's own threshold."""
    if hasattr(clf, "threshold_"):
        return np.asarray(scores > clf.threshold_)
    return np.asarray(np.asarray(clf.predict(X)) == clf.classes_[1])


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
