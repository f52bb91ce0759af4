"""Rows of any system, given by their labels, scores and decisions."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._types import Floats
from fairsmooth.data.given_groups import given_groups
from fairsmooth.data.groups import encode_groups
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.group import positive_label
from fairsmooth.metrics.scored import ScoredRows

THRESHOLD = 0.5


def given_rows(
    *,
    y_true: Any = None,
    y_score: Any = None,
    y_pred: Any = None,
    sensitive_features: Any,
    threshold: float | None = None,
    pos_label: Any = None,
) -> ScoredRows:
    """Return rows as an audit needs them, from scores, decisions or both.

    Without decisions a row is selected where its score exceeds ``threshold``: ½ for scores
    in [0, 1]; for others it must be given, and such scores order rows but are no
    probabilities.
    """
    if y_score is None and y_pred is None:
        raise InputError(
            "Expected a classifier with X, or y_score, or y_pred, got none of them. "
            "Pass the scores or the decisions to audit."
        )
    if threshold is not None and y_pred is not None:
        raise InputError(
            "Expected either y_pred or a threshold, got both. Leave out the threshold: y_pred "
            "says what was decided."
        )
    named = {"y_true": y_true, "y_pred": y_pred}
    columns = {name: _labels(name, values) for name, values in named.items() if values is not None}
    scores = None if y_score is None else _scores(y_score)
    _validate.same_length(**{**({} if scores is None else {"y_score": scores}), **columns})
    positive = None
    if columns:
        positive = positive_label(np.unique(np.concatenate([*columns.values()])), pos_label)
    if "y_pred" in columns:
        used, decisions = None, columns["y_pred"] == positive
    else:
        assert scores is not None
        used = _threshold(scores, threshold)
        decisions = scores > used
    within = scores is not None and scores.min() >= 0.0 and scores.max() <= 1.0
    return ScoredRows(
        y=(columns["y_true"] == positive).astype(np.int64) if "y_true" in columns else None,
        groups=encode_groups(given_groups(sensitive_features), n_rows=len(decisions)),
        scores=scores if within else None,
        decisions=np.asarray(decisions, dtype=bool),
        threshold=used,
        ranking=scores,
    )


def _threshold(scores: Floats, threshold: float | None) -> float:
    if threshold is not None:
        if not np.isfinite(threshold):
            raise InputError(f"Expected a finite threshold, got threshold={threshold!r}.")
        return float(threshold)
    if scores.min() < 0.0 or scores.max() > 1.0:
        raise InputError(
            f"Expected a threshold for scores from {scores.min():g} to {scores.max():g}, got none. "
            "Pass threshold, or the decisions as y_pred."
        )
    return THRESHOLD


def _labels(name: str, values: Any) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim != 1 or not len(column):
        raise InputError(f"Expected {name} with one label per row, got shape {column.shape}.")
    missing = pd.isna(column)
    if missing.any():
        raise InputError(
            f"Expected a label in every row of {name}, got {int(missing.sum())} missing (first at "
            f"row {int(np.argmax(missing))}). Drop those rows, or audit without labels."
        )
    return column


def _scores(y_score: Any) -> Floats:
    try:
        scores = np.asarray(y_score, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"Expected y_score to be numbers, got something else: {error}.") from error
    if scores.ndim != 1 or not len(scores):
        raise InputError(f"Expected y_score with one score per row, got shape {scores.shape}.")
    if not np.isfinite(scores).all():
        row = int(np.argmax(~np.isfinite(scores)))
        raise InputError(f"Expected finite scores in y_score, got {scores[row]} at row {row}.")
    return scores


def require_rows_alone(X: Any, y: Any, shift: bool) -> None:
    """Refuse what belongs to a classifier where there is none."""
    if X is not None or y is not None:
        raise InputError("Expected X and y with a classifier, got them without one.")
    if shift:
        raise InputError(
            "Expected a classifier and X for the curves under shift, got scores or decisions."
        )


def require_classifier_alone(given: dict[str, Any]) -> None:
    """Refuse scores, decisions and labels beside a classifier."""
    extra = [name for name, value in given.items() if value is not None]
    if extra:
        raise InputError(
            f"Expected either a classifier or {extra[0]}, got both. "
            "The classifier says what it decides; its labels are y."
        )
