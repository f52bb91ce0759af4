"""Rows of a table as an audit needs them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._types import Floats, Labels
from fairsmooth.core.labels import group_text
from fairsmooth.data.frames import table_digest
from fairsmooth.data.groups import encode_groups
from fairsmooth.data.roles import (
    Roles,
    known_label_codes,
    require_columns,
    sensitive_frame,
    usable_rows,
)
from fairsmooth.data.values import normal_text, normal_texts
from fairsmooth.exceptions import GroupError
from fairsmooth.metrics import Audit, audit
from fairsmooth.metrics.own import take
from fairsmooth.metrics.shift.scenarios import MOST_MIXED
from fairsmooth.tables.provenance import Provenance
from fairsmooth.tables.scoring import NoRows

if TYPE_CHECKING:
    from fairsmooth.estimator import FairSmoothClassifier

SAME_TABLE = "This is the table that the model was trained from: training used rows of it."
# Curves under shift look at every feature of a row; so many rows tell them well.
_SHIFTED_ROWS = 50_000
# Groups that a message names.
_SHOWN = 5
_NO_LABELS = "The table has no labels in {!r}: only what needs none is measured."


@dataclass(frozen=True)
class AuditedRows:
    """Features, labels and groups of rows to audit, and what was noticed about them.

    ``y`` is None where the rows have no labels.
    """

    X: Any
    y: Labels | None
    sensitive: pd.DataFrame
    notes: tuple[str, ...] = ()

    def audit(self, classifier: "FairSmoothClassifier", *, shift: bool = False) -> Audit:
        """Audit a classifier on these rows.

        With ``shift`` the audit goes on under shifts of the population, beside an
        unconstrained model: a logistic regression, cross-fitted on the audited rows
        because a model holds no training rows. Rows without labels have no such curves.
        """
        groups: dict[str, Any] = {"sensitive_features": self.sensitive}
        if self.y is None:
            return audit(classifier, self.X, **groups)
        labels = np.asarray(classifier.classes_)[self.y]
        if not (shift and len(labels) > _SHIFTED_ROWS):
            reference = OutOfFold.of(self.X, self.y) if shift else None
            return audit(classifier, self.X, labels, **groups, shift=shift, reference=reference)
        from fairsmooth.metrics import audit_shift

        rows = np.arange(_SHIFTED_ROWS) * len(labels) // _SHIFTED_ROWS
        some = take(self.X, rows)
        curves = audit_shift(
            classifier,
            some,
            labels[rows],
            sensitive_features=self.sensitive.iloc[rows],
            reference=OutOfFold.of(some, self.y[rows]),
        )
        return replace(audit(classifier, self.X, labels, **groups), shift=curves)

    @property
    def shift_notes(self) -> list[str]:
        """Say that the curves under shift are of a sample, or of some groups, if they are."""
        if self.y is None:
            return []
        notes, n_groups = [], len(self.sensitive.drop_duplicates())
        if len(self.y) > _SHIFTED_ROWS:
            notes.append(
                f"The curves under shift are of {_SHIFTED_ROWS:,} of {len(self.y):,} rows, evenly "
                "spaced; all else is of all rows."
            )
        if n_groups > MOST_MIXED:
            notes.append(
                f"The curves under another mix of groups change the shares of the {MOST_MIXED} "
                f"largest of {n_groups} groups, one at a time, and are of all rows."
            )
        return notes


@dataclass(frozen=True)
class KnownRows:
    """Which rows of a table can be audited, with their labels, if any, and groups."""

    usable: NDArray[np.bool_]
    y: Labels | None
    sensitive: pd.DataFrame
    notes: tuple[str, ...]


def known_rows(
    table: pd.DataFrame,
    roles: Roles,
    known: Provenance,
    *,
    groups: Sequence[Hashable],
    strict: bool = False,
    digest: str | None = None,
) -> KnownRows:
    """Find the rows of a table that an audit can use, by what the model knows of its table.

    A table without the label column, or without one label in it, has no labels; in a table
    that has some, rows without one are left out. With ``strict`` that is an error. Of a table
    that is not here as a whole, ``digest`` is that of the whole. ``groups`` are the model's:
    rows of another are refused.
    """
    notes = []
    if known.digest and (digest or table_digest(table)) == known.digest:
        notes.append(SAME_TABLE)
    labelled = roles.label in table.columns
    if labelled and not strict and normal_texts(roles.label, table[roles.label]).isna().all():
        table, labelled = table.drop(columns=roles.label), False
    if labelled:
        require_columns(table, roles)
    else:
        for name in roles.sensitive:
            _validate.known_column(name, list(table.columns), where="the table")
        notes.append(_NO_LABELS.format(roles.label))
    usable, dropped = usable_rows(table, roles, strict=strict)
    if not usable.any():
        raise NoRows(f"Expected at least one row to audit, got none of {len(table)}.")
    y = known_label_codes(table[roles.label][usable], known.to_dict()) if labelled else None
    sensitive = sensitive_frame(table, roles)[usable]
    _require_groups(sensitive, groups, usable)
    return KnownRows(usable, y, sensitive, (*notes, *dropped))


def _require_groups(
    sensitive: pd.DataFrame, groups: Sequence[Hashable], usable: NDArray[np.bool_]
) -> None:
    """Refuse rows of groups that the model has not: it has no classifier of their own."""
    here = encode_groups(sensitive, n_rows=len(sensitive))
    parts = [group if isinstance(group, tuple) else (group,) for group in groups]
    known = {group_text(tuple(map(normal_text, part))) for part in parts}
    unknown = [code for code, g in enumerate(here.labels) if group_text(g) not in known]
    if not unknown:
        return
    rows = np.isin(here.codes, unknown)
    shown = ", ".join(group_text(here.labels[code]) for code in unknown[:_SHOWN])
    raise GroupError(
        f"Expected rows of the groups of the model, {', '.join(map(group_text, groups))}, got "
        f"{int(rows.sum()):,} of {'another' if len(unknown) == 1 else 'others'}: {shown}"
        f"{', …' if len(unknown) > _SHOWN else ''} (the first is row "
        f"{int(np.flatnonzero(usable)[np.argmax(rows)]) + 1}). Leave those rows out, or audit the "
        "model's predictions as a column, which takes any group."
    )


@dataclass(frozen=True)
class OutOfFold:
    """Scores of audited rows by models that have not seen them, as a classifier would give them."""

    probabilities: Floats
    threshold_: float = 0.5

    @classmethod
    def of(cls, X: Any, y: Labels) -> "OutOfFold | None":
        """Score every row by a logistic regression trained on the other half."""
        if min(np.bincount(y, minlength=2)) < 2:
            return None
        from sklearn.model_selection import cross_val_predict

        from fairsmooth.tables.comparison import as_matrix, plain_regression, quietly

        with quietly():
            return cls(
                cross_val_predict(plain_regression(), as_matrix(X), y, cv=2, method="predict_proba")
            )

    def predict_proba(self, X: Any) -> Floats:
        """Return the scores of the rows that they were computed for."""
        assert len(X) == len(self.probabilities)
        return self.probabilities
