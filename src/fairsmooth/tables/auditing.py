"""Rows of a table as an audit needs them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_predict

from fairsmooth._types import Floats, Labels
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.metrics import Audit, audit
from fairsmooth.tables.comparison import plain_regression, quietly


@dataclass(frozen=True)
class AuditedRows:
    """Features, labels and groups of rows to audit, and what was noticed about them."""

    X: Any
    y: Labels
    sensitive: pd.DataFrame
    notes: tuple[str, ...] = ()

    def audit(self, classifier: FairSmoothClassifier, *, shift: bool = False) -> Audit:
        """Audit a classifier on these rows.

        With ``shift`` the audit goes on under shifts of the population, beside an
        unconstrained model: a logistic regression, cross-fitted on the audited rows
        because a model holds no training rows.
        """
        return audit(
            classifier,
            self.X,
            np.asarray(classifier.classes_)[self.y],
            sensitive_features=self.sensitive,
            shift=shift,
            reference=OutOfFold.of(self.X, self.y) if shift else None,
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
        with quietly():
            return cls(
                cross_val_predict(
                    plain_regression(), np.asarray(X), y, cv=2, method="predict_proba"
                )
            )

    def predict_proba(self, X: Any) -> Floats:
        """Return the scores of the rows that they were computed for."""
        assert len(X) == len(self.probabilities)
        return self.probabilities
