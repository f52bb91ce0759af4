"""Audit under shift: every rate and gap when the population changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth import _validate
from fairsmooth._random import seed_from
from fairsmooth._types import Floats
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.scored import (
    ScoredRows,
    decide,
    last_certified,
    positive_scores,
    score_rows,
)
from fairsmooth.metrics.shift.compared import compare
from fairsmooth.metrics.shift.curve import CurvePoint
from fairsmooth.metrics.shift.reweighted import reweighted_points
from fairsmooth.metrics.shift.scenarios import (
    Scenario,
    exponential_tilt,
    group_mix,
    label_shift,
    partitions,
)
from fairsmooth.metrics.shift.worst_curves import worst_points

N_COLUMNS = 3


@dataclass(frozen=True)
class ShiftAudit:
    """Curves of every rate and gap as the population changes.

    Attributes
    ----------
    points : tuple of CurvePoint
        One per shift, strength, metric and group.
    """

    points: tuple[CurvePoint, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return the points as a table, one row each."""
        frame = pd.DataFrame([vars(point) for point in self.points])
        # Written out, or the missing group of an overall point would become NaN.
        return frame.assign(group=pd.Series([p.group for p in self.points], dtype=object))

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the points as plain data that JSON can hold."""
        return [point.to_dict() for point in self.points]


def audit_shift(
    clf: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    reference: Any = None,
    columns: Sequence[Any] | None = None,
    random_state: int = 0,
) -> ShiftAudit:
    """Measure every rate and gap of a classifier as the population changes.

    Six shifts, each a reweighting of the sample: smaller test partitions, the
    mix of groups (the shares of the 20 largest, one at a time), tilts along
    columns, the share of positive labels, and the worst reweighting within a
    chi-square and within a Hellinger ball. Beside
    each value stand what the certificate guarantees there and the value of a
    reference classifier.

    Parameters
    ----------
    clf : fitted classifier
        As for :func:`fairsmooth.metrics.audit`.
    X, y, sensitive_features
        The sample.
    reference : fitted classifier, optional
        Anything with ``predict_proba`` and ``predict`` on the same columns, such
        as an unconstrained logistic regression.
    columns : sequence, optional
        Columns to tilt along: names for a frame, positions for an array. If left
        out, the three most correlated with the overall score.
    random_state : int
        Seed of the drawn partitions.

    Returns
    -------
    ShiftAudit
    """
    clf, X = last_certified(clf, X)
    scored = score_rows(clf, X, y, sensitive_features=sensitive_features)
    return shift_curves(scored, X, reference=reference, columns=columns, random_state=random_state)


def shift_curves(
    scored: ScoredRows,
    X: Any,
    *,
    reference: Any = None,
    columns: Sequence[Any] | None = None,
    random_state: int = 0,
) -> ShiftAudit:
    """Do the work of :func:`audit_shift` on rows already scored, with labels and scores."""
    other = None
    if reference is not None:
        scores = positive_scores(reference, X)
        other = scores, decide(reference, X, scores)
    compared = compare(scored, other)
    scenarios = _scenarios(scored, X, columns, random_state)
    found = list(reweighted_points(scenarios, compared, y=scored.truth, groups=scored.groups))
    for one in compared:
        found += worst_points(one, y=scored.truth, groups=scored.groups)
    return ShiftAudit(tuple(found))


def _scenarios(
    scored: ScoredRows, X: Any, columns: Sequence[Any] | None, random_state: int
) -> Iterator[Scenario]:
    seed = seed_from(random_state, "shift")
    yield from partitions(scored.n_rows, random_state=seed)
    yield from group_mix(scored.groups)
    yield from label_shift(scored.truth)
    for column in _default_columns(X, scored.probabilities) if columns is None else columns:
        yield from exponential_tilt(_column(X, column), name=str(column))


def _default_columns(X: Any, scores: Floats) -> list[Any]:
    """Return the columns most correlated with the score: those that move decisions most."""
    matrix = np.asarray(X, dtype=np.float64)
    centered = matrix - matrix.mean(axis=0)
    spread = centered.std(axis=0)
    products = np.abs(centered.T @ (scores - scores.mean()))
    correlations = np.divide(products, spread, out=np.zeros_like(spread), where=spread > 0)
    best = [int(k) for k in np.argsort(-correlations, kind="stable")[:N_COLUMNS]]
    varying = [k for k in best if spread[k] > 0]
    return [X.columns[k] for k in varying] if isinstance(X, pd.DataFrame) else varying


def _column(X: Any, column: Any) -> Floats:
    if isinstance(X, pd.DataFrame):
        _validate.known_column(column, X.columns, where="X")
        return np.asarray(X[column], dtype=np.float64)
    matrix = np.asarray(X, dtype=np.float64)
    if not (isinstance(column, int) and 0 <= column < matrix.shape[1]):
        raise InputError(
            f"Expected a column between 0 and {matrix.shape[1] - 1}, got {column!r}. "
            "Names of columns need X as a DataFrame."
        )
    return np.asarray(matrix[:, column])
