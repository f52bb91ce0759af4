"""From a table with a label and sensitive columns to a trained, audited model."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth import _validate
from fairsmooth._types import Labels
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.groups import Groups, encode_groups, require_trainable
from fairsmooth.data.roles import Roles, label_codes, not_features, require_columns
from fairsmooth.data.splitting import split_rows
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.metrics import Audit
from fairsmooth.tables.comparison import comparison_notes
from fairsmooth.tables.model import TableModel
from fairsmooth.tables.provenance import Provenance, library_versions, today
from fairsmooth.tables.reading import sanity_notes, table_digest

COLUMNS = {"auto": "binned", "binned": "binned", "standardised": "standardised"}
MAX_SEED = 2**32 - 1
Step = Callable[[str], None]


@dataclass(frozen=True)
class Fitted:
    """A model of a table with its audit on rows it has not seen.

    Attributes
    ----------
    model : TableModel
    audit : Audit
        On the held-out rows.
    test : DataFrame
        Those rows, as they were read.
    seconds : float
        Of training and auditing.
    """

    model: TableModel
    audit: Audit
    test: pd.DataFrame
    seconds: float

    def summary(self) -> dict[str, Any]:
        """Return the figures that ``--json`` prints."""
        return {
            **self.audit.summary(),
            "seconds": self.seconds,
            "provenance": self.model.describe(),
        }


def fit_table(
    table: pd.DataFrame,
    roles: Roles,
    *,
    classifier: FairSmoothClassifier,
    columns: str = "auto",
    test_size: float = 0.3,
    seed: int = 0,
    shift: bool = False,
    step: Step = lambda text: None,
) -> Fitted:
    """Split, learn the encoder on the training part, train, certify and audit."""
    began = time.perf_counter()
    step("learning the columns")
    parts = Parts.of(table, roles, columns=columns, test_size=test_size, seed=seed)
    step("training")
    classifier.fit(parts.X, parts.y, sensitive_features=parts.sensitive)
    step("auditing")
    return parts.fitted(classifier, began, shift=shift)


@dataclass(frozen=True)
class Parts:
    """A table cut in two: encoded training rows, and rows kept for the audit."""

    X: pd.DataFrame
    y: Labels
    sensitive: pd.DataFrame
    encoder: TableEncoder
    roles: Roles
    provenance: Provenance
    test: pd.DataFrame

    @classmethod
    def of(
        cls,
        table: pd.DataFrame,
        roles: Roles,
        *,
        columns: str = "auto",
        test_size: float,
        seed: int,
        by_label: bool = True,
    ) -> "Parts":
        """Cut a table by group, and by label too unless ``by_label`` is false.

        A guarantee of the gaps holds for rows drawn within each group, whatever their
        labels; the split that it needs looks at the groups alone.
        """
        _validate.in_range(0.01, 0.99, test_size=test_size)
        _validate.in_range(0, MAX_SEED, seed=seed)
        _validate.one_of(tuple(COLUMNS), columns=columns)
        require_columns(table, roles)
        y, values = label_codes(table[roles.label], roles)
        sensitive = table[list(roles.sensitive)]
        groups = encode_groups(sensitive, n_rows=len(table))
        require_trainable(groups, y)
        cells = groups.codes * 2 + y if by_label else groups.codes
        train, test = split_rows(cells, test_size, seed=seed, name="table")
        _require_both(groups, y, train, test, test_size)
        features = table.drop(columns=not_features(table, roles)).iloc[train]
        encoder = TableEncoder.learn(features, numeric=COLUMNS[columns], unknown=roles.unknown)
        provenance = Provenance(
            label=roles.label,
            negative=values[0],
            positive=values[1],
            sensitive=tuple(roles.sensitive),
            drop=tuple(roles.drop),
            include_sensitive=roles.include_sensitive,
            rows=len(train),
            held_out=len(test),
            seed=seed,
            test_size=test_size,
            digest=table_digest(table),
            versions=library_versions(),
            date=today(),
            notes=tuple(sanity_notes(table, roles)),
        )
        held_out = table.iloc[test].reset_index(drop=True)
        X = encoder.transform(features)
        return cls(X, y[train], sensitive.iloc[train], encoder, roles, provenance, held_out)

    def fitted(
        self, classifier: FairSmoothClassifier, began: float, *, shift: bool = False
    ) -> Fitted:
        """Put the model together and audit it on the rows kept for that."""
        model = TableModel(classifier, self.encoder, self.roles, self.provenance)
        # A rare category may be in the held-out part only; that must not end a training.
        audited = model.audited(self.test, unknown="ignore")
        audit = audited.audit(classifier, shift=shift)
        notes = comparison_notes(
            classifier, audit, (self.X, self.y), (audited.X, audited.y, audited.sensitive)
        )
        known = replace(self.provenance, notes=(*self.provenance.notes, *notes))
        model = replace(model, provenance=known, measured=audit)
        return Fitted(model, audit, self.test, time.perf_counter() - began)


def _require_both(
    groups: Groups, y: Labels, train: Any, test: Any, test_size: float
) -> None:
    if len(test) == 0:
        raise InputError(
            f"Expected rows to hold out at test_size={test_size!r}, got none of {len(y)} rows. "
            "Give more rows or a larger test_size."
        )
    require_trainable(Groups(groups.labels, groups.codes[train]), y[train])


def drawn_seed() -> int:
    """Return a seed that nobody chose; it is noted, so that the run can be repeated."""
    return int(np.random.SeedSequence().generate_state(1)[0])
