"""Rows of a stored table as an audit or a guarantee needs them, read in pieces."""

from dataclasses import replace
from typing import Any

import numpy as np

from fairsmooth import _validate
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.tables import scoring
from fairsmooth.tables.auditing import AuditedRows, known_rows
from fairsmooth.tables.model import TableModel
from fairsmooth.tables.provenance import Provenance
from fairsmooth.tables.stored_coding import Done, StoredCodes


def can_audit_stored(model: TableModel) -> bool:
    """Tell whether a model's columns can be coded in a file."""
    return isinstance(model.encoder, TableEncoder)


def audited_stored(
    model: TableModel,
    table: StoredTable,
    *,
    unknown: str | None = None,
    strict: bool = False,
    done: Done = lambda rows: None,
) -> AuditedRows:
    """Do what :meth:`TableModel.audited` does; the rows are coded in a file."""
    known = model.provenance or Provenance.from_dict({})
    roles = replace(model.roles or known.roles(), drop=(), ids=())
    for name in roles.sensitive:
        _validate.known_column(name, table.columns, where="the table")
    named = [name for name in (roles.label, *roles.sensitive) if name in table.columns]
    about = table.frame(named)
    told: dict[str, Any] = {"groups": model.classifier.groups_, "digest": table.digest()}
    rows = known_rows(about, roles, known, strict=strict, **told)
    places = np.full(len(table), -1, dtype=np.intp)
    places[rows.usable] = np.arange(int(rows.usable.sum()))
    assert isinstance(model.encoder, TableEncoder)
    encoder = model.encoder if unknown is None else model.encoder.with_unknown(unknown)
    codes = StoredCodes.of(table, encoder, places, done=done)
    reasons = np.full(len(table), None, dtype=object)
    where = np.flatnonzero(rows.usable)
    for place, reason in codes.reasons.items():
        reasons[where[place]] = reason
    scored, unscored = scoring.scorable_rows(reasons, among=rows.usable, strict=strict)
    kept: Any = slice(None) if scored.all() else scored[rows.usable]
    return AuditedRows(
        codes.rows(0, len(where)).take(kept),
        None if rows.y is None else rows.y[kept],
        rows.sensitive[kept].astype("category"),
        (*rows.notes, *unscored),
    )
