"""From a table with a label and sensitive columns to a trained, audited, explained model."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split

from fairsmooth import _validate
from fairsmooth.data.encoding import UNKNOWN, TableEncoder
from fairsmooth.data.groups import encode_groups, require_trainable
from fairsmooth.data.roles import (
    Roles,
    known_label_codes,
    label_codes,
    not_features,
    require_columns,
)
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.metrics import Audit, audit
from fairsmooth.persistence import SavedModel
from fairsmooth.tuning import Limits, SearchSpace, Tuned, tune


@dataclass(frozen=True)
class Outcome:
    """A trained model with its audit on rows it has not seen."""

    model: SavedModel
    audit: Audit
    test: pd.DataFrame
    seconds: float

    def summary(self) -> dict[str, Any]:
        """Return the figures that ``--json`` prints."""
        return {**self.audit.summary(), "seconds": self.seconds}


def train_on_table(
    table: pd.DataFrame,
    roles: Roles,
    *,
    classifier: FairSmoothClassifier,
    test_size: float,
    seed: int,
    shift: bool = False,
    step: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Split, learn the encoder on the training part, train, certify and audit."""
    began = time.perf_counter()
    step("learning the columns")
    parts = _Parts.of(table, roles, test_size=test_size, seed=seed)
    step("training")
    classifier.fit(parts.X, parts.y, sensitive_features=parts.sensitive)
    step("auditing")
    return parts.outcome(classifier, began, shift=shift)


@dataclass(frozen=True)
class Tuning:
    """A search and the audit of the model it chose."""

    tuned: Tuned
    outcome: Outcome

    def plain(self) -> dict[str, Any]:
        """Return what the search decided, as plain data."""
        return {
            "parameters": self.tuned.parameters,
            "held_out": self.tuned.measured,
            "feasible": self.tuned.feasible,
            "trials": len(self.tuned.trials),
        }


def tune_on_table(
    table: pd.DataFrame,
    roles: Roles,
    *,
    limits: Limits,
    space: SearchSpace,
    n_trials: int,
    n_jobs: int,
    storage: Path,
    test_size: float,
    seed: int,
    callback: Callable[[int], None],
) -> Tuning:
    """Search on the training part, then audit the chosen model on the test part, once."""
    began = time.perf_counter()
    parts = _Parts.of(table, roles, test_size=test_size, seed=seed)
    tuned = tune(
        parts.X,
        parts.y,
        sensitive_features=parts.sensitive,
        limits=limits,
        space=space,
        n_trials=n_trials,
        n_jobs=n_jobs,
        storage=storage,
        random_state=seed,
        callback=callback,
    )
    return Tuning(tuned, parts.outcome(tuned.classifier, began))


@dataclass(frozen=True)
class _Parts:
    """A table cut in two: encoded training rows, and rows kept for the audit."""

    X: pd.DataFrame
    y: NDArray[np.int64]
    sensitive: pd.DataFrame
    encoder: TableEncoder
    notes: Mapping[str, Any]
    test: pd.DataFrame

    @classmethod
    def of(cls, table: pd.DataFrame, roles: Roles, *, test_size: float, seed: int) -> "_Parts":
        _validate.in_range(0.01, 0.99, test_size=test_size)
        require_columns(table, roles)
        y, values = label_codes(table[roles.label], roles)
        sensitive = table[list(roles.sensitive)]
        groups = encode_groups(sensitive, n_rows=len(table))
        require_trainable(groups, y)
        train, test = _split(groups.codes * 2 + y, test_size, seed)
        features = table.drop(columns=not_features(table, roles)).iloc[train]
        encoder = TableEncoder.learn(features, unknown=roles.unknown)
        notes = {
            "label": roles.label,
            "negative": values[0],
            "positive": values[1],
            "sensitive": list(roles.sensitive),
            "rows": len(train),
            "seed": seed,
            "test_size": test_size,
        }
        held_out = table.iloc[test].reset_index(drop=True)
        X = encoder.transform(features)
        return cls(X, y[train], sensitive.iloc[train], encoder, notes, held_out)

    def outcome(
        self, classifier: FairSmoothClassifier, began: float, *, shift: bool = False
    ) -> Outcome:
        model = SavedModel(classifier, self.encoder, self.notes)
        # A rare category may be in the held-out part only; that must not end a training.
        result = audit_table(model, self.test, unknown="ignore", shift=shift)
        return Outcome(model, result, self.test, time.perf_counter() - began)


def audit_table(
    model: SavedModel, table: pd.DataFrame, *, unknown: str | None = None, shift: bool = False
) -> Audit:
    """Audit a model on a table that has the label and the sensitive columns.

    With ``shift`` the audit goes on under shifts of the population, beside an
    unconstrained model: a logistic regression, cross-fitted on the audited rows
    because a model file holds no training rows.
    """
    roles = Roles(model.training["label"], tuple(model.training["sensitive"]))
    require_columns(table, roles)
    y = known_label_codes(table[roles.label], model.training)
    X = features_of(model, table, unknown=unknown)
    return audit(
        model.classifier,
        X,
        y,
        sensitive_features=table[list(roles.sensitive)],
        shift=shift,
        reference=_OutOfFold.of(X, y) if shift else None,
    )


@dataclass(frozen=True)
class _OutOfFold:
    """Scores of audited rows by models that have not seen them, as a classifier would give them."""

    probabilities: NDArray[np.float64]
    threshold_: ClassVar[float] = 0.5

    @classmethod
    def of(cls, X: pd.DataFrame, y: NDArray[np.int64]) -> "_OutOfFold | None":
        if min(np.bincount(y, minlength=2)) < 2:
            return None
        plain = LogisticRegression(max_iter=1000)
        return cls(cross_val_predict(plain, X.to_numpy(), y, cv=2, method="predict_proba"))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        assert len(X) == len(self.probabilities)
        return self.probabilities


def features_of(model: SavedModel, table: pd.DataFrame, *, unknown: str | None = None) -> Any:
    """Turn a table with the original columns into the classifier's features.

    ``unknown`` overrides what the model's encoder does with an unseen category.
    """
    encoder = model.encoder
    if encoder is None:
        return table
    if unknown is not None:
        _validate.one_of(UNKNOWN, unknown=unknown)
        encoder = replace(encoder, unknown=unknown)
    return encoder.transform(table)


def _split(cells: NDArray[np.int64], test_size: float, seed: int) -> tuple[Any, Any]:
    smallest = int(np.bincount(cells)[np.unique(cells)].min())
    stratify = cells if smallest >= 2 else None
    train, test = train_test_split(
        np.arange(len(cells)), test_size=test_size, random_state=seed, stratify=stratify
    )
    return np.sort(train), np.sort(test)
