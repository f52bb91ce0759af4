"""The audit: every rate and gap with its interval, beside what is certified."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth import _validate
from fairsmooth.core.certificate import Certificate
from fairsmooth.metrics.auditing.epsilon import epsilon_records, rate_distance_records
from fairsmooth.metrics.auditing.rate_records import gap_records, rate_records
from fairsmooth.metrics.auditing.statements import Statement, certified_statements
from fairsmooth.metrics.auditing.tying import tying_records
from fairsmooth.metrics.intervals import binomial_interval
from fairsmooth.metrics.record import Record, plain
from fairsmooth.metrics.scored import ScoredRows, score_rows
from fairsmooth.metrics.shift.audit import ShiftAudit, shift_curves

_SUMMARY = {
    "accuracy": "accuracy",
    "demographic_parity": "demographic_parity",
    "equalized_odds_sum": "equalized_odds_sum",
    "equalized_odds_max": "equalized_odds_max",
}


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
    threshold : float
        A decision is positive where the score exceeds this.
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
    threshold: float
    certificate: Certificate | None = None
    statements: tuple[Statement, ...] = ()
    shift: ShiftAudit | None = None

    def find(self, metric: str, group: Hashable | None = None) -> Record | None:
        """Return the record of a metric and group, or None if there is none."""
        return by_metric_and_group(self.records).get((metric, group))

    def to_frame(self) -> pd.DataFrame:
        """Return the records as a table, one row each."""
        frame = pd.DataFrame([vars(record) for record in self.records])
        # Written out, or the missing group of an overall record would become NaN.
        groups = pd.Series([record.group for record in self.records], dtype=object)
        return frame.assign(group=groups)

    def summary(self) -> dict[str, Any]:
        """Return the headline numbers, as plain data.

        ``measured_gap`` is the largest difference, over rows and groups, between
        the overall score and a group's own; ``epsilon`` (the paper's) and
        ``epsilon_tight`` bound it. ``tying_cost`` is the largest log-loss that a
        group's own classifier gave up for the tie, ``groups`` a list with one
        record per group. What is unknown is None.
        """
        certificate = self.certificate
        bounds = ("epsilon", "epsilon_tight", "max_distance")
        head = {key: plain(self._value(metric)) for key, metric in _SUMMARY.items()}
        head |= {key: plain(getattr(certificate, key, None)) for key in bounds}
        head["measured_gap"] = self._largest("epsilon_linf_all_rows")
        head["tying_cost"] = self._largest("tying_cost_log_loss")
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

    def _value(self, metric: str, group: Hashable | None = None) -> float | None:
        record = self.find(metric, group)
        return None if record is None else record.value

    def _largest(self, metric: str) -> float | None:
        values = [r.value for r in self.records if r.metric == metric and not np.isnan(r.value)]
        return max(values) if values else None

    def _group_summary(self, group: Hashable) -> dict[str, Any]:
        mine: dict[str, Any] = {"group": plain(group)}
        records = [record for record in self.records if record.group == group]
        mine["count"] = next(r.count for r in records if r.metric == "accuracy")
        if self.certificate is not None:
            mine["epsilon"] = plain(float(self.certificate.epsilon_by_group[group]))
            mine["distance"] = plain(float(self.certificate.distances[group]))
        for record in records:
            mine[record.metric] = plain(record.value)
            if record.low is not None:
                mine[f"{record.metric}_low"] = plain(record.low)
                mine[f"{record.metric}_high"] = plain(record.high)
        return mine


def audit(
    clf: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    confidence: float = 0.95,
    shift: bool = False,
    reference: Any = None,
    columns: Sequence[Any] | None = None,
    random_state: int = 0,
) -> Audit:
    """Measure accuracy, rates and gaps on a sample, beside what is certified.

    Parameters
    ----------
    clf : fitted classifier
        With a certificate (:class:`fairsmooth.FairSmoothClassifier`) everything
        is measured; any other classifier with ``predict_proba`` gets rates and gaps.
    X : array-like of shape (n, d)
        Rows that the classifier was not trained on.
    y : array-like of shape (n,)
        Their labels.
    sensitive_features : array-like of shape (n,) or (n, c)
        Their groups.
    confidence : float
        Confidence of every interval, each for itself.
    shift : bool
        Whether to trace the curves of :func:`fairsmooth.metrics.audit_shift` as well.
    reference, columns
        For those curves: a classifier to compare with, and columns to tilt along.
    random_state : int
        Seed of the simulated noise floor and the drawn partitions.

    Returns
    -------
    Audit

    References
    ----------
    Definition of epsilon-fairness, Eq. (7) and (8); Theorem 2 for the bounds.
    """
    _validate.in_range(0.5, 0.9999, confidence=confidence)
    scored = score_rows(clf, X, y, sensitive_features=sensitive_features)
    records = [
        *rate_records(scored, confidence=confidence),
        *gap_records(scored, confidence=confidence, random_state=random_state),
        *epsilon_records(scored),
        *rate_distance_records(scored),
        *_agreement_records(scored, confidence=confidence),
        *tying_records(clf, X, scored, confidence=confidence),
    ]
    curves = None
    if shift:
        curves = shift_curves(
            scored, X, reference=reference, columns=columns, random_state=random_state
        )
    return Audit(
        records=tuple(records),
        groups=scored.groups.labels,
        n_rows=len(scored.y),
        confidence=confidence,
        threshold=scored.threshold,
        certificate=scored.certificate,
        statements=certified_statements(scored, by_metric_and_group(records)),
        shift=curves,
    )


def by_metric_and_group(
    records: Iterable[Record],
) -> dict[tuple[str, Hashable | None], Record]:
    """Return the records by what they are about."""
    return {(record.metric, record.group): record for record in records}


def _agreement_records(scored: ScoredRows, *, confidence: float) -> Iterator[Record]:
    if scored.agreed is None:
        return
    tail = (1.0 - confidence) / 2.0
    for code, group in enumerate(scored.groups.labels):
        proved = scored.agreed[scored.groups.codes == code, code]
        low, high = map(float, binomial_interval(proved.sum(), len(proved), error=tail))
        share = float(proved.mean()) if len(proved) else float("nan")
        note = "" if len(proved) else "undefined: no rows"
        yield Record("certified_agreement", group, share, low, high, len(proved), note=note)
