"""From a table with a label and sensitive columns to a trained, audited model."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from fairsmooth._types import Labels
from fairsmooth.columns import Forecasts
from fairsmooth.data.columns.learning import finite_numbers
from fairsmooth.data.encoders import Encoder
from fairsmooth.data.frames import table_digest
from fairsmooth.data.notes import sanity_notes
from fairsmooth.data.roles import Roles, not_features, require_columns
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.tables.checkpoint import Checkpoint, kept
from fairsmooth.tables.columns import check_columns, encode_training
from fairsmooth.tables.comparison import comparable
from fairsmooth.tables.fitted import Fitted
from fairsmooth.tables.model import TableModel
from fairsmooth.tables.provenance import Provenance
from fairsmooth.tables.split import Split

# Decided by benchmarks/defaults.py: with equal weights, many small groups ruin the large ones.
GROUP_WEIGHTS = "share"
__all__ = ["GROUP_WEIGHTS", "Fitted", "Parts", "default_classifier", "drawn_seed", "fit_table"]
Step = Callable[[str], None]


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
    checkpoint: Checkpoint | None = None,
    step: Step = lambda text: None,
) -> Fitted:
    """Split, learn the encoder on the training part, train, certify and audit.

    With a ``checkpoint``, the training is kept there while it runs.
    """
    began = time.perf_counter()
    step("learning the columns")
    options: dict[str, Any] = {"test_size": test_size, "seed": seed, "strict": strict}
    parts = Parts.of(table, roles, columns=columns, **options)
    step("training")
    with kept(checkpoint, classifier, parts, columns=columns, **options):
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
        check_columns(columns)
        require_columns(table, roles)
        split = Split.of(
            table, roles, test_size=test_size, seed=seed, strict=strict, by_label=by_label
        )
        rows = table if split.usable.all() else table[split.usable]
        roles, train, y = split.roles, split.train, split.y
        features = _features(rows, roles).iloc[train]
        sensitive = split.groups.iloc[train]
        encoder, X = encode_training(features, y[train], sensitive, roles,
                                     columns=columns, seed=seed)  # fmt: skip
        provenance = split.provenance(
            digest=table_digest(table),
            notes=(*sanity_notes(rows, roles), *encoder.notes),
            ids=rows.iloc[train][list(dict.fromkeys(roles.ids))],
        )
        held_out = rows.iloc[split.test].reset_index(drop=True)
        return cls(X, y[train], sensitive, encoder, roles, provenance, held_out, features)

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
        beside = comparable(self.X, self.y) if compare else None
        how: dict[str, Any] = {"began": began, "shift": shift, "beside": beside}
        return Fitted.of(model, audited, test=self.test, **how)


def _features(rows: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Return the features, refusing an infinite number in whichever part it would be."""
    features = rows.drop(columns=not_features(rows, roles))
    # Spans of time and complex numbers, which pandas counts among numbers, no rule can use.
    for name in features.select_dtypes("number", exclude=["timedelta", "complex"]):
        finite_numbers(str(name), features[name])
    return features


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
