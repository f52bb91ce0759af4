"""The audit: every rate and gap with its interval, beside what is certified."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from fairsmooth import _validate
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.auditing.epsilon import (
    agreement_records,
    epsilon_records,
    rate_distance_records,
)
from fairsmooth.metrics.auditing.gap_sample import gap_sample
from fairsmooth.metrics.auditing.label_records import label_records
from fairsmooth.metrics.auditing.rate_records import gap_records, rate_records
from fairsmooth.metrics.auditing.ratio_records import ratio_records
from fairsmooth.metrics.auditing.result import Audit
from fairsmooth.metrics.auditing.score_counts import score_counts
from fairsmooth.metrics.auditing.score_records import score_records
from fairsmooth.metrics.auditing.statements import certified_statements
from fairsmooth.metrics.auditing.tying import tying_records
from fairsmooth.metrics.auditing.weighted import weighted_records
from fairsmooth.metrics.given import given_rows, require_classifier_alone, require_rows_alone
from fairsmooth.metrics.group import row_weights
from fairsmooth.metrics.record import Record, by_metric_and_group
from fairsmooth.metrics.scored import ScoredRows, last_certified, score_rows
from fairsmooth.metrics.shift.audit import ShiftAudit, shift_curves

# Distances that are means over rows.
_MEANS = ("epsilon_l1", "epsilon_l2")


def audit(
    clf: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    sensitive_features: Any,
    y_true: Any = None,
    y_score: Any = None,
    y_pred: Any = None,
    threshold: float | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    shift: bool = False,
    reference: Any = None,
    columns: Sequence[Any] | None = None,
    random_state: int = 0,
    sample_weight: Any = None,
) -> Audit:
    """Measure accuracy, rates and gaps on a sample, beside what is certified.

    Either ``audit(clf, X, y, ...)`` of a classifier, or
    ``audit(y_true=..., y_score=..., ...)`` of the scores or decisions of any system. Without
    labels (``y`` or ``y_true`` left out) it measures what needs none: selection rates,
    their gap and the impact ratio.

    Parameters
    ----------
    clf : fitted classifier, optional
        With a certificate (:class:`fairsmooth.FairSmoothClassifier`, also at the end of
        a pipeline) everything is measured; any other classifier gets rates and gaps, and
        without ``predict_proba`` those of its decisions alone.
    X : array-like of shape (n, d), optional
        Rows that the classifier was not trained on.
    y : array-like of shape (n,), optional
        Their labels.
    sensitive_features : array-like of shape (n,) or (n, c)
        Their groups.
    y_true : array-like of shape (n,), optional
        Labels where there is no classifier.
    y_score, y_pred : array-like of shape (n,), optional
        Scores, decisions, or both. Scores in [0, 1] count as probabilities; others
        order the rows and need ``threshold`` or ``y_pred``.
    threshold : float, optional
        A score above it is a positive decision; 0.5 for scores in [0, 1].
    pos_label : label, optional
        The positive one among ``y_true`` and ``y_pred``; the larger if left out.
    confidence : float
        Confidence of every interval, each for itself.
    shift : bool
        Whether to trace the curves of :func:`fairsmooth.metrics.audit_shift` as well;
        needs a classifier and labels.
    reference, columns
        For those curves: a classifier to compare with, and columns to tilt along.
    random_state : int
        Seed of the simulated noise floor and the drawn partitions.
    sample_weight : array-like of shape (n,), optional
        How much each row counts, where a sample was not drawn evenly. Rates, accuracy, gaps
        and the impact ratio are then weighted, with approximate intervals; what has no
        weighted form (calibration, tying cost, noise floor, mean distances) is left out.

    Returns
    -------
    Audit

    References
    ----------
    Definition of epsilon-fairness, Eq. (7) and (8); Theorem 2 for the bounds.

    Examples
    --------
    >>> found = audit(
    ...     y_true=[0, 1, 0, 1], y_score=[0.7, 0.9, 0.2, 0.6], sensitive_features=list("aabb")
    ... )
    >>> found.find("accuracy").value, found.find("impact_ratio").value
    (0.75, 0.5)
    """
    _validate.in_range(0.5, 0.9999, confidence=confidence)
    given = {"y_true": y_true, "y_score": y_score, "y_pred": y_pred}
    rule = {"threshold": threshold, "pos_label": pos_label}
    if clf is None:
        require_rows_alone(X, y, shift)
        scored = given_rows(**given, **rule, sensitive_features=sensitive_features)
    else:
        require_classifier_alone({**given, **rule})
        if X is None:
            raise InputError("Expected X with the classifier, got None. Pass the rows to audit.")
        clf, X = last_certified(clf, X)
        scored = score_rows(clf, X, y, sensitive_features=sensitive_features)
    weights = row_weights(sample_weight, scored.n_rows)
    how: Any = {"confidence": confidence, "random_state": random_state}
    if weights is None:
        curves = None
        if shift:
            curves = shift_curves(
                scored, X, reference=reference, columns=columns, random_state=random_state
            )
        return audit_of(clf, X, scored, **how, shift=curves)
    if shift:
        raise InputError("Expected either sample_weight or shift=True, got both.")
    found = weighted_records(scored, weights, confidence=confidence)
    # The largest distance is that of a row, whatever its weight; means over rows are not.
    largest = (r for r in epsilon_records(scored) if not r.metric.startswith(_MEANS))
    return audit_of(clf, X, scored, **how, records=chain(found, largest))


def audit_of(
    clf: Any,
    X: Any,
    scored: ScoredRows,
    *,
    confidence: float,
    random_state: int = 0,
    records: Iterable[Record] | None = None,
    shift: ShiftAudit | None = None,
) -> Audit:
    """Return the audit of rows that were scored; ``records`` are the usual ones if left out."""
    usual = _records(clf, X, scored, confidence=confidence, random_state=random_state)
    found = tuple(usual if records is None else records)
    return Audit(
        records=found,
        groups=scored.groups.labels,
        n_rows=scored.n_rows,
        confidence=confidence,
        threshold=scored.threshold,
        certificate=scored.certificate,
        statements=certified_statements(scored, by_metric_and_group(found)),
        shift=shift,
        # Counts of people say nothing where people count by weights.
        score_counts=score_counts(scored) if records is None else None,
        gap_sample=gap_sample(scored, random_state=random_state),
    )


def _records(
    clf: Any, X: Any, scored: ScoredRows, *, confidence: float, random_state: int
) -> Iterator[Record]:
    yield from rate_records(scored, confidence=confidence)
    yield from gap_records(scored, confidence=confidence, random_state=random_state)
    yield from ratio_records(scored, confidence=confidence)
    yield from label_records(scored, confidence=confidence)
    yield from score_records(scored, confidence=confidence)
    yield from epsilon_records(scored)
    yield from rate_distance_records(scored)
    yield from agreement_records(scored, confidence=confidence)
    yield from tying_records(clf, X, scored, confidence=confidence)
