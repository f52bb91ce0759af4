"""From a table with a label and sensitive columns to a trained, audited model."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from fairsmooth import _validate
from fairsmooth._random import numpy_generator
from fairsmooth._types import Labels
from fairsmooth.columns import Forecasts
from fairsmooth.data.banding import parse_bands
from fairsmooth.data.columns.learning import finite_numbers
from fairsmooth.data.encoders import Encoder
from fairsmooth.data.frames import table_digest
from fairsmooth.data.groups import encode_groups, require_trainable
from fairsmooth.data.notes import sanity_notes
from fairsmooth.data.roles import (
    Roles,
    label_codes,
    not_features,
    require_columns,
    sensitive_frame,
    usable_rows,
    with_bands,
)
from fairsmooth.data.splits import hold_out
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.metrics import Audit
from fairsmooth.tables.columns import check_columns, encode_training
from fairsmooth.tables.comparison import comparison_notes
from fairsmooth.tables.model import TableModel
from fairsmooth.tables.overlap import id_digests
from fairsmooth.tables.provenance import Provenance, library_versions, plain_value, today
from fairsmooth.training.parity_gaps import ParityGaps

# Decided by benchmarks/defaults.py: with equal weights, many small groups ruin the large ones.
GROUP_WEIGHTS = "share"
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

    @property
    def parity_gaps(self) -> ParityGaps | None:
        """What the parity term's surrogate shows beside what decisions do, on training rows."""
        return getattr(self.model.classifier, "parity_gaps_", None)

    def summary(self) -> dict[str, Any]:
        """Return the figures that ``--json`` prints."""
        return {
            **self.audit.summary(),
            "seconds": self.seconds,
            "provenance": self.model.describe(),
            **({} if self.parity_gaps is None else {"parity_gaps": self.parity_gaps.to_dict()}),
            **(
                {}
                if self.model.guarantee is None
                else {"guarantee": self.model.guarantee.to_dict()}
            ),
        }


def fit_table(
    table: pd.DataFrame,
    roles: Roles,
    *,
    classifier: FairSmoothClassifier,
    columns: str | Forecasts = "auto",
    test_size: float = 0.3,
    seed: int = 0,
    strict: bool = False,
    shift: bool = False,
    step: Step = lambda text: None,
) -> Fitted:
    """Split, learn the encoder on the training part, train, certify and audit."""
    began = time.perf_counter()
    step("learning the columns")
    parts = Parts.of(table, roles, columns=columns, test_size=test_size, seed=seed,
                     strict=strict)  # fmt: skip
    step("training")
    classifier.fit(parts.X, parts.y, sensitive_features=parts.sensitive)
    step("auditing")
    return parts.fitted(classifier, began, shift=shift)


@dataclass(frozen=True)
class Parts:
    """A table cut in two: encoded training rows, and rows kept for the audit."""

    X: Any
    y: Labels
    sensitive: pd.DataFrame
    encoder: Encoder
    roles: Roles
    provenance: Provenance
    test: pd.DataFrame
    features: pd.DataFrame

    @classmethod
    def of(
        cls,
        table: pd.DataFrame,
        roles: Roles,
        *,
        columns: str | Forecasts = "auto",
        test_size: float,
        seed: int,
        strict: bool = False,
        by_label: bool = True,
    ) -> "Parts":
        """Cut a table by group, and by label too unless ``by_label`` is false.

        A guarantee of the gaps holds for rows drawn within each group, whatever their
        labels; the split that it needs looks at the groups alone.
        """
        _validate.in_range(0.01, 0.99, test_size=test_size)
        _validate.in_range(0, MAX_SEED, seed=seed)
        check_columns(columns)
        require_columns(table, roles)
        _require_one_role(roles)
        usable, dropped = usable_rows(table, _unbanded(roles, table), strict=strict)
        rows = table if usable.all() else table[usable]
        y, values = label_codes(rows[roles.label], roles)
        permute = numpy_generator(seed, "split", "table").permutation
        cells = _cells(rows, roles, y if by_label else None)
        train, test = hold_out(cells, test_size, permute=permute)
        roles = with_bands(roles, rows.iloc[train])
        groups = sensitive_frame(rows, roles)
        _require_trainable(groups, y, train, test, test_size)
        features = _features(rows, roles).iloc[train]
        encoder, X = encode_training(features, y[train], groups.iloc[train], roles,
                                     columns=columns, seed=seed)  # fmt: skip
        digest = table_digest(table)
        ids = rows.iloc[train][list(dict.fromkeys(roles.ids))]
        provenance = Provenance(
            label=roles.label,
            negative=plain_value(values[0]),
            positive=plain_value(values[1]),
            sensitive=roles.sensitive,
            ids=tuple(dict.fromkeys(roles.ids)),
            drop=tuple(dict.fromkeys(roles.drop)),
            include_sensitive=roles.include_sensitive,
            bands={banding.name: list(banding.edges) for banding in roles.bandings},
            rows=len(train),
            held_out=len(test),
            seed=seed,
            test_size=test_size,
            digest=digest,
            versions=library_versions(),
            date=today(),
            notes=(*dropped, *sanity_notes(rows, roles), *encoder.notes),
            id_digests=id_digests(ids, digest=digest) if roles.ids else {},
        )
        held_out = rows.iloc[test].reset_index(drop=True)
        return cls(X, y[train], groups.iloc[train], encoder, roles, provenance, held_out, features)

    def fitted(
        self,
        classifier: FairSmoothClassifier,
        began: float,
        *,
        shift: bool = False,
        compare: bool = True,
    ) -> Fitted:
        """Put the model together and audit it on the rows kept for that.

        With ``compare`` a note tells where a plain logistic regression has smaller gaps.
        """
        model = TableModel(classifier, self.encoder, self.roles, self.provenance)
        # A rare category may be in the held-out part only, or the only value that is missing;
        # that must not end a training.
        audited = model.audited(self.test, unknown="ignore")
        audit = audited.audit(classifier, shift=shift)
        assert audited.y is not None  # rows that were split off have labels
        notes = []
        if compare:
            test = (audited.X, audited.y, audited.sensitive)
            notes = comparison_notes(classifier, audit, (self.X, self.y), test)
        left_out = (f"Of the rows held out, {note}" for note in audited.notes)
        known = replace(self.provenance, notes=(*self.provenance.notes, *left_out, *notes))
        model = replace(model, provenance=known, measured=audit)
        return Fitted(model, audit, self.test, time.perf_counter() - began)


def _features(rows: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Return the features, refusing an infinite number in whichever part it would be."""
    features = rows.drop(columns=not_features(rows, roles))
    for name in features.select_dtypes("number"):
        finite_numbers(str(name), features[name])
    return features


def _unbanded(roles: Roles, table: pd.DataFrame) -> Roles:
    names, _ = parse_bands(roles.sensitive, list(table.columns))
    return replace(roles, sensitive=names)


def _cells(rows: pd.DataFrame, roles: Roles, y: Labels | None) -> Labels:
    """Number the cells of the split: groups, times labels if given.

    Columns that are cut into bands take no part: the bands are learned from the
    training rows, which are not chosen yet.
    """
    names, bands = parse_bands(roles.sensitive, list(rows.columns))
    fixed = replace(roles, sensitive=tuple(name for name in names if name not in bands))
    cells = np.zeros(len(rows), dtype=np.int64)
    if fixed.sensitive:
        cells += encode_groups(sensitive_frame(rows, fixed), n_rows=len(rows)).codes
    return cells if y is None else cells * 2 + y


def _require_trainable(
    groups: pd.DataFrame, y: Labels, train: Any, test: Any, test_size: float
) -> None:
    require_trainable(encode_groups(groups, n_rows=len(groups)), y)
    if len(test) == 0:
        raise InputError(
            f"Expected rows to hold out at test_size={test_size!r}, got none of {len(y)} rows. "
            "Give more rows or a larger test_size."
        )
    require_trainable(encode_groups(groups.iloc[train], n_rows=len(train)), y[train])


def _require_one_role(roles: Roles) -> None:
    for name, part in ((roles.label, "label"), *((s, "sensitive column") for s in roles.sensitive)):
        taken = {"ids": roles.ids, "drop": roles.drop if part == "label" else ()}
        for other, names in taken.items():
            if name in names:
                raise InputError(
                    f"Expected one role for every column, got {name!r} as {part} and in {other}."
                )


def default_classifier(classifier: FairSmoothClassifier | None, seed: int) -> FairSmoothClassifier:
    """Return a classifier to train: a copy of the user's, or one with the table's defaults."""
    chosen = FairSmoothClassifier(group_weights=GROUP_WEIGHTS)
    chosen = clone(chosen if classifier is None else classifier)
    if chosen.random_state is None:
        chosen.random_state = seed
    return chosen


def drawn_seed() -> int:
    """Return a seed that nobody chose; it is noted, so that the run can be repeated."""
    return int(np.random.SeedSequence().generate_state(1)[0])
