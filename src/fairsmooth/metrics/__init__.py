"""Rates, gaps and audits, with the noise they carry."""

from fairsmooth.metrics.auditing.audit import audit
from fairsmooth.metrics.auditing.result import Audit
from fairsmooth.metrics.auditing.statements import Statement
from fairsmooth.metrics.bias_audit import BiasAudit, BiasAuditRow, bias_audit
from fairsmooth.metrics.group import (
    accuracy,
    demographic_parity_gap,
    equalized_odds_gap,
    group_rates,
)
from fairsmooth.metrics.record import Record
from fairsmooth.metrics.shift.audit import ShiftAudit, audit_shift
from fairsmooth.metrics.shift.curve import CurvePoint

__all__ = [
    "Audit",
    "BiasAudit",
    "BiasAuditRow",
    "CurvePoint",
    "Record",
    "ShiftAudit",
    "Statement",
    "accuracy",
    "audit",
    "audit_shift",
    "bias_audit",
    "demographic_parity_gap",
    "equalized_odds_gap",
    "group_rates",
]
