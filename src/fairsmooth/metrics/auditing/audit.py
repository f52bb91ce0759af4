"""The audit: every rate and gap with its interval, beside what is certified."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth import _validate
from fairsmooth.core.certificate import Certificate
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.auditing.epsilon import (
    agreement_records,
    epsilon_records,
    rate_distance_records,
)
from fairsmooth.metrics.auditing.label_records import label_records
from fairsmooth.metrics.auditing.rate_records import gap_records, rate_records
from fairsmooth.metrics.auditing.ratio_records import IMPACT_RATIO, four_fifths, ratio_records
from fairsmooth.metrics.auditing.reliability import reliability
from fairsmooth.metrics.auditing.score_records import BIN, score_records
from fairsmooth.metrics.auditing.statements import Statement, certified_statements
from fairsmooth.metrics.auditing.tying import tying_records
from fairsmooth.metrics.auditing.weighted import weighted_records
from fairsmooth.metrics.given import given_rows, require_classifier_alone, require_rows_alone
from fairsmooth.metrics.group import row_weights
from fairsmooth.metrics.record import Record, by_metric_and_group, plain
from fairsmooth.metrics.scored import ScoredRows, last_certified, score_rows
from fairsmooth.metrics.shift.audit import ShiftAudit, shift_curves

_SUMMARY = ("accuracy", "demographic_parity", "equalized_odds_sum", "equalized_odds_max")


@dataclass(frozen=True)
class Audit:
    """What was measured of a classifier on a sample.

    Attributes
    ----------
    records : tuple of Record
        One flat record per metric and group.
    groups : tuple
        Labels of the groups.
    n_rows : int
        Number of rows audited.
    confidence : float
        Confidence of every interval.
    threshold : float or None
        A decision is positive where the score exceeds this; None where decisions were
        made some other way.
    certificate : Certificate or None
        The certificate of the classifier, if it has one.
    statements : tuple of Statement
        What is certified, and what is not, in words.
    shift : ShiftAudit or None
        The curves under shift, if they were asked for.
    """

    records: tuple[Record, ...]
    groups: tuple[Hashable, ...]
    n_rows: int
    confidence: float
    threshold: float | None
    certificate: Certificate | None = None
    statements: tuple[Statement, ...] = ()
    shift: ShiftAudit | None = None

    def find(self, metric: str, group: Hashable | None = None) -> Record | None:
        """Return the record of a metric and group, or None if there is none."""
        return by_metric_and_group(self.records).get((metric, group))

    reliability = reliability

    def to_frame(self) -> pd.DataFrame:
        """Return the records as a table, one row each."""
        frame = pd.DataFrame([vars(record) for record in self.records])
        # Written out, or the missing group of an overall record would become NaN.
        groups = pd.Series([record.group for record in self.records], dtype=object)
        return frame.assign(group=groups)

    def to_metric_frame(self) -> Any:
        """Return fairlearn's ``MetricFrame`` of the same decisions (extra ``compare``)."""
        from fairsmooth.metrics.auditing.metric_frame import metric_frame

        return metric_frame(self.records, self.groups)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers, as plain data.

        ``measured_gap`` is the largest difference, over rows and groups, between
        the overall score and a group's own; ``epsilon`` (the paper's) and
        ``epsilon_tight`` bound it. ``tying_cost`` is the largest log-loss that a
        group's own classifier gave up for the tie, ``groups`` a list with one
        record per group. ``four_fifths`` says whether the measured impact ratio is at least
        0.8: "kept" or "broken". What is unknown is None.
        """
        certificate = self.certificate
        bounds = ("epsilon", "epsilon_tight", "max_distance")
        head = {name: plain(self._value(name)) for name in _SUMMARY}
        head |= self._impact_ratio()
        head |= {key: plain(getattr(certificate, key, None)) for key in bounds}
        head["measured_gap"] = self._largest("epsilon_linf_all_rows")
        head["tying_cost"] = self._largest("tying_cost_log_loss")
        head["four_fifths"] = four_fifths(head["impact_ratio"])
        head["groups"] = [self._group_summary(group) for group in self.groups]
        return head

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data that JSON can hold."""
        return {
            **self.summary(),
            "n_rows": self.n_rows,
            "confidence": self.confidence,
            "threshold": self.threshold,
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "records": [record.to_dict() for record in self.records],
            "statements": [statement.to_dict() for statement in self.statements],
            "shift": None if self.shift is None else self.shift.to_dict(),
        }

    def _impact_ratio(self) -> dict[str, Any]:
        record = self.find(IMPACT_RATIO)
        if record is None:
            return {}
        ends = {f"{IMPACT_RATIO}_low": record.low, f"{IMPACT_RATIO}_high": record.high}
        return {name: plain(v) for name, v in {IMPACT_RATIO: record.value, **ends}.items()}

    def _value(self, metric: str, group: Hashable | None = None) -> float | None:
        record = self.find(metric, group)
        return None if record is None else record.value

    def _largest(self, metric: str) -> float | None:
        values = [r.value for r in self.records if r.metric == metric and not np.isnan(r.value)]
        return max(values) if values else None

    def _group_summary(self, group: Hashable) -> dict[str, Any]:
        mine: dict[str, Any] = {"group": plain(group)}
        records = [record for record in self.records if record.group == group]
        mine["count"] = next(r.count for r in records if r.metric == "selection_rate")
        if self.certificate is not None:
            mine["epsilon"] = plain(float(self.certificate.epsilon_by_group[group]))
            mine["distance"] = plain(float(self.certificate.distances[group]))
        for record in records:
            if record.metric.startswith(BIN):
                continue
            mine[record.metric] = plain(record.value)
            if record.low is not None:
                mine[f"{record.metric}_low"] = plain(record.low)
                mine[f"{record.metric}_high"] = plain(record.high)
        return mine


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
        weighted form (calibration, tying cost, noise floor) is left out.

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
    return audit_of(clf, X, scored, **how, records=chain(found, epsilon_records(scored)))


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
    if records is None:
        records = _records(clf, X, scored, confidence=confidence, random_state=random_state)
    found = tuple(records)
    return Audit(
        records=found,
        groups=scored.groups.labels,
        n_rows=scored.n_rows,
        confidence=confidence,
        threshold=scored.threshold,
        certificate=scored.certificate,
        statements=certified_statements(scored, by_metric_and_group(found)),
        shift=shift,
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
