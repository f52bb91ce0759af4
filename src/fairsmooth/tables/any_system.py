"""Audits of the decisions of any system, and the table of a bias audit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairsmooth import _validate
from fairsmooth.exceptions import InputError
from fairsmooth.metrics import Audit, BiasAudit, audit, bias_audit
from fairsmooth.tables.decided import MISSING_GROUP, DecidedRows

STANDARDS = ("nyc-ll144",)


@dataclass(frozen=True)
class AuditedSystem:
    """An audit of decisions that some system made, and what was left out of it."""

    audit: Audit
    notes: tuple[str, ...] = ()


def audit_system(rows: DecidedRows, *, strict: bool = False) -> AuditedSystem:
    """Audit decided rows; without labels, what needs none.

    Of a table in which some rows have a label, the others are left out, and a note says how
    many; people of unknown group are a group of their own. With ``strict`` both are errors.
    """
    if strict:
        rows.labels()
        missing = int((rows.sensitive == MISSING_GROUP).any(axis=1).sum())
        if missing:
            raise InputError(f"Expected a group in every row, got {missing} without.")
    keep = np.ones(len(rows.decisions), dtype=bool) if rows.y is None else ~np.isnan(rows.y)
    notes = []
    if rows.y is None:
        notes.append("There are no labels: only what needs none is measured.")
    elif not keep.all():
        notes.append(f"{int((~keep).sum()):,} rows without a label are left out of the audit.")
    found = audit(
        y_true=None if rows.y is None else rows.y[keep].astype(np.int64),
        y_score=None if rows.scores is None else rows.scores[keep],
        y_pred=rows.decisions[keep] if rows.scores is None else None,
        threshold=None if rows.scores is None else rows.threshold,
        pos_label=1 if rows.scores is None or rows.y is not None else None,
        sensitive_features=rows.sensitive[keep],
    )
    return AuditedSystem(found, tuple(notes))


def standard_table(standard: str, rows: DecidedRows, *, by_scores: bool) -> BiasAudit:
    """Return the table that a standard asks for; people of unknown group are counted apart.

    ``by_scores`` takes the scores, if there are any, for what the system puts out; otherwise
    its decisions are.
    """
    _validate.one_of(STANDARDS, standard=standard)
    categories = rows.sensitive.astype(object).where(rows.sensitive != MISSING_GROUP, None)
    if by_scores and rows.scores is not None:
        return bias_audit(categories, scores=rows.scores)
    return bias_audit(categories, selected=rows.decisions)


def describe_system(rows: DecidedRows, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return where audited decisions came from, as plain data."""
    return {
        **facts,
        "sensitive": [str(name) for name in rows.sensitive],
        "threshold": rows.threshold,
        "selected": rows.selected,
        "digest": rows.digest,
    }
