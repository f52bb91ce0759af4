"""Rates, gaps and audits, with the noise they carry."""

from fairsmooth.metrics.audit import Audit, audit
from fairsmooth.metrics.curve import CurvePoint
from fairsmooth.metrics.group import (
    accuracy,
    demographic_parity_gap,
    equalized_odds_gap,
    group_rates,
)
from fairsmooth.metrics.record import Record
from fairsmooth.metrics.shift import ShiftAudit, audit_shift
from fairsmooth.metrics.statements import Statement

__all__ = [
    "Audit",
    "CurvePoint",
    "Record",
    "ShiftAudit",
    "Statement",
    "accuracy",
    "audit",
    "audit_shift",
    "demographic_parity_gap",
    "equalized_odds_gap",
    "group_rates",
]
