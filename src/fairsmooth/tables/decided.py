"""Rows with a decision each, by a model of ours or by whatever system wrote a column."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth import _validate
from fairsmooth._types import Floats, Labels
from fairsmooth.data.banding import parse_bands
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.frames import table_digest
from fairsmooth.data.roles import UNMISTAKABLE, Roles, label_pair, sensitive_frame
from fairsmooth.data.values import normal_text, normal_texts
from fairsmooth.exceptions import InputError
from fairsmooth.tables.decision_column import read_decisions
from fairsmooth.tables.model import TableModel

# The cell of people whose group is not known: named, never dropped.
MISSING_GROUP = "(missing)"


@dataclass(frozen=True)
class DecidedRows:
    """What a guarantee, a monitor or an audit of any system needs to know of every row.

    Attributes
    ----------
    decisions : ndarray of 0 and 1
        1 where the person was selected.
    scores : ndarray or None
        The scores that were decided on; None where the column held decisions.
    y : ndarray or None
        True labels, 1 for the positive one, NaN where missing; None without a label column.
    sensitive : DataFrame
        One column of normal texts per sensitive column; an unknown group is named so.
    digest : str
        SHA-256 of the table.
    threshold : float or None
        A score above it is a positive decision.
    notes : tuple of str
        What was noticed, one line each.
    selected : str or None
        Of a column of decisions: the value that means selected.
    """

    decisions: Labels
    scores: Floats | None
    y: Floats | None
    sensitive: pd.DataFrame
    digest: str
    threshold: float | None
    notes: tuple[str, ...] = ()
    selected: str | None = None

    def labels(self) -> Floats | None:
        """Return the labels if every row has one; None without a label column.

        Raises
        ------
        InputError
            If some rows have a label and others have none.
        """
        if self.y is not None and np.isnan(self.y).any():
            raise InputError(
                f"Expected a label in every row, got {int(np.isnan(self.y).sum())} missing. "
                "Rates among a label need all labels: those that are missing may not be missing "
                "by chance."
            )
        return self.y


def decided_by_model(
    model: TableModel, table: pd.DataFrame | StoredTable, *, unknown: str | None = None
) -> DecidedRows:
    """Decide every row by a model; a row that cannot be scored is refused.

    Labels are read if the table has the model's label column. A stored table is read in pieces.
    """
    roles = model.roles
    if roles is None or model.provenance is None:
        raise InputError(
            "Expected the model of a table, got a classifier that was saved without the names of "
            "its label and sensitive columns. Train it with `fairsmooth train` or TableModel.fit."
        )
    for name in roles.sensitive:
        _validate.known_column(name, list(table.columns), where="the table")
    if len(table) == 0:
        raise InputError("Expected at least one row, got none.")
    scores = _scores(model, table, unknown)
    threshold = float(model.classifier.threshold_)
    named = (model.provenance.negative, model.provenance.positive)
    return _decided(
        table,
        replace(roles, drop=(), ids=()),
        (scores > threshold).astype(np.int64),
        scores=scores,
        threshold=threshold,
        labels=(str(normal_text(named[0])), str(normal_text(named[1]))),
    )


def _scores(model: TableModel, table: pd.DataFrame | StoredTable, unknown: str | None) -> Floats:
    if isinstance(table, pd.DataFrame):
        scored = model.predict(table, unknown=unknown, strict=True)
        return scored["probability"].to_numpy(np.float64)
    found = [np.empty(0)]
    needed = None if model.encoder is None else model.encoder.columns
    for chunk in table.chunks(needed):
        first = sum(map(len, found))
        scored = model.predict(chunk, unknown=unknown, strict=True, first_row=first)
        found.append(scored["probability"].to_numpy(np.float64))
    return np.concatenate(found)


def decided_by_column(
    table: pd.DataFrame | StoredTable,
    *,
    column: str,
    sensitive: tuple[str, ...],
    label: str | None = None,
    positive: Any = None,
    threshold: float | None = None,
) -> DecidedRows:
    """Read the decisions of any system from a column of scores or of decisions.

    A column of the label's two values, of 0 and 1, no and yes or the like, or without labels
    of any two values of which ``positive`` is one, holds decisions. Other numbers are scores:
    a score above ``threshold`` (½ for scores in [0, 1]; needed for others) is a positive
    decision.
    """
    names, bands = parse_bands(sensitive, list(table.columns))
    for name in (column, *names, *(() if label is None else (label,))):
        _validate.known_column(name, list(table.columns), where="the table")
    _require_one_part(column, label, names)
    if len(table) == 0:
        raise InputError("Expected at least one row, got none.")
    if threshold is not None and not np.isfinite(threshold):
        raise InputError(f"Expected a finite threshold, got threshold={threshold!r}.")
    if bands:
        raise InputError(
            "Expected sensitive columns as they are, got bands of "
            f"{', '.join(map(repr, bands))}: bands belong to a model. Add a column of bands."
        )
    roles = Roles(label=label or "", sensitive=names, positive=positive)
    values = None if label is None else _two_labels(table[label], roles)
    read = read_decisions(table[column], labels=values, positive=positive, threshold=threshold)
    found = _decided(
        table, roles, read.decisions, scores=read.scores, threshold=read.threshold, labels=values
    )
    return replace(found, selected=read.selected, notes=(*read.notes(column), *found.notes))


def _require_one_part(column: str, label: str | None, sensitive: tuple[str, ...]) -> None:
    """Refuse a column that plays two parts: of labels that are the decisions all are right."""
    parts = (column, *sensitive, *(() if label is None else (label,)))
    twice = next((name for name in parts if parts.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            "Expected scores, label and sensitive columns to differ, each named once, got "
            f"{twice!r} twice."
        )


def _decided(
    table: pd.DataFrame | StoredTable,
    roles: Roles,
    decisions: Labels,
    *,
    scores: Floats | None,
    threshold: float | None,
    labels: tuple[str, str] | None,
) -> DecidedRows:
    digest = table_digest(table) if isinstance(table, pd.DataFrame) else table.digest()
    if not isinstance(table, pd.DataFrame):
        named = (*roles.sensitive, roles.label)
        table = table.frame([name for name in named if name in table.columns])
    groups = sensitive_frame(table, roles)
    unknown = int(groups.isna().any(axis=1).sum())
    notes = []
    if unknown:
        notes.append(
            f"{unknown:,} rows have no known group; they are kept as the group {MISSING_GROUP}."
        )
    y = None
    if labels is not None and roles.label in table.columns:
        y = _truth(table[roles.label], roles.label, labels)
        if np.isnan(y).all():
            y = None
        else:
            notes += _one_label(y, roles.label, labels)
        if y is not None and np.isnan(y).any():
            notes.append(f"{int(np.isnan(y).sum()):,} rows have no label.")
    return DecidedRows(
        decisions,
        scores,
        y,
        groups.astype(object).where(groups.notna(), MISSING_GROUP).reset_index(drop=True),
        digest,
        threshold,
        tuple(notes),
    )


def _two_labels(column: pd.Series, roles: Roles) -> tuple[str, str] | None:
    """Return the negative and the positive value as normal texts; None if no row has one yet.

    A batch may have one of them only. It says which if it is one of 0 and 1, no and yes or the
    like, or if the positive one is named.
    """
    found = set(normal_texts(roles.label, column).dropna())
    if not found:
        return None
    if len(found) > 1:
        return label_pair(found, roles)
    (only,) = found
    named = normal_text(roles.positive)
    others = [set(pair) - {only.lower()} for pair in UNMISTAKABLE if only.lower() in pair]
    other = others[0].pop() if others else f"not {only}"
    if named is None and not others:
        return label_pair(found, roles)  # refuses it
    if named is None:
        return label_pair({only, other}, roles)
    return (other, only) if named == only else (only, named)


def _one_label(y: Floats, name: str, labels: tuple[str, str]) -> list[str]:
    """Say so where all labels are one value: a positive value that is misspelt has that effect."""
    known = np.unique(y[~np.isnan(y)])
    if len(known) > 1:
        return []
    kind = "positive" if known[0] else "negative"
    return [
        f"All labels in {name!r} are {labels[int(known[0])]!r}, the {kind} one "
        f"(the other is {labels[1 - int(known[0])]!r})."
    ]


def _truth(column: pd.Series, name: str, labels: tuple[str, str]) -> Floats:
    texts = normal_texts(name, column)
    unknown = sorted(set(texts.dropna()) - set(labels))
    if unknown:
        raise InputError(
            f"Expected the labels {labels[0]!r} and {labels[1]!r} in {name!r}, got {unknown[:5]}."
        )
    truth = (texts == labels[1]).to_numpy().astype(np.float64)
    truth[texts.isna().to_numpy()] = np.nan
    return truth
