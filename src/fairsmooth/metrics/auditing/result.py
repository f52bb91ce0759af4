"""What an audit found: one flat record per metric and group, beside what is certified."""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from fairsmooth import _lazy
from fairsmooth.core.certificate import Certificate
from fairsmooth.metrics.auditing.gap_sample import GapSample
from fairsmooth.metrics.auditing.ratio_records import IMPACT_RATIO, four_fifths
from fairsmooth.metrics.auditing.reliability import reliability
from fairsmooth.metrics.auditing.score_counts import ScoreCounts
from fairsmooth.metrics.auditing.score_records import BIN
from fairsmooth.metrics.auditing.statements import Statement
from fairsmooth.metrics.record import Record, by_metric_and_group, plain
from fairsmooth.metrics.shift.audit import ShiftAudit

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
    score_counts : ScoreCounts or None
        How many people score above each of many thresholds, for a page's explorer.
    gap_sample : GapSample or None
        Measured gaps to the groups' own classifiers, of some rows.
    """

    records: tuple[Record, ...]
    groups: tuple[Hashable, ...]
    n_rows: int
    confidence: float
    threshold: float | None
    certificate: Certificate | None = None
    statements: tuple[Statement, ...] = ()
    shift: ShiftAudit | None = None
    score_counts: ScoreCounts | None = None
    gap_sample: GapSample | None = None

    def find(self, metric: str, group: Hashable | None = None) -> Record | None:
        """Return the record of a metric and group, or None if there is none."""
        return self._by_metric_and_group.get((metric, group))

    @cached_property
    def _by_metric_and_group(self) -> dict[tuple[str, Hashable | None], Record]:
        return by_metric_and_group(self.records)

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
        by_group: dict[Hashable | None, list[Record]] = {None: []}
        for record in self.records:
            if not record.metric.startswith(BIN):
                by_group.setdefault(record.group, []).append(record)
        overall = {record.metric: record for record in by_group[None]}
        bounds = ("epsilon", "epsilon_tight", "max_distance")
        head = {name: plain(getattr(overall.get(name), "value", None)) for name in _SUMMARY}
        if IMPACT_RATIO in overall:
            head |= _with_ends(overall[IMPACT_RATIO])
        head |= {key: plain(getattr(self.certificate, key, None)) for key in bounds}
        head["measured_gap"] = self._largest("epsilon_linf_all_rows")
        head["tying_cost"] = self._largest("tying_cost_log_loss")
        head["four_fifths"] = four_fifths(head["impact_ratio"])
        head["groups"] = [self._group_summary(group, by_group[group]) for group in self.groups]
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

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the audit as one HTML page that needs nothing else; also write it, if asked."""
        return str(_lazy.fetched("fairsmooth.reporting.objects", "audit_page")(self, path))

    def _repr_html_(self) -> str:
        from fairsmooth.metrics.auditing.fragment import in_html

        return in_html(self)

    def _largest(self, metric: str) -> float | None:
        values = [r.value for r in self.records if r.metric == metric and not math.isnan(r.value)]
        return max(values) if values else None

    def _group_summary(self, group: Hashable, records: list[Record]) -> dict[str, Any]:
        mine: dict[str, Any] = {"group": plain(group)}
        mine["count"] = next(r.count for r in records if r.metric == "selection_rate")
        if self.certificate is not None:
            mine["epsilon"] = plain(float(self.certificate.epsilon_by_group[group]))
            mine["distance"] = plain(float(self.certificate.distances[group]))
        for record in records:
            mine |= _with_ends(record)
        return mine


def _with_ends(record: Record) -> dict[str, Any]:
    found = {record.metric: plain(record.value)}
    if record.low is not None:
        found[f"{record.metric}_low"] = plain(record.low)
        found[f"{record.metric}_high"] = plain(record.high)
    return found
