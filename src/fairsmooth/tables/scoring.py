"""Scores, decisions and every group's interval, computed once per row."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.core.labels import group_text
from fairsmooth.exceptions import InputError
from fairsmooth.persistence import SavedModel

if TYPE_CHECKING:
    from fairsmooth.estimator import FairSmoothClassifier

Reasons = NDArray[np.object_]
REASON = "reason"
# Rows and ends of intervals at once: memory shall not grow with rows times groups.
_MOST_ROWS, _MOST_ENDS = 50_000, 2_000_000
_DTYPES = {bool: "boolean", int: "Int64", float: "Float64"}


class NoRows(InputError):
    """None of the rows can be audited; other rows of the same table may be."""


def rows_at_once(n_groups: int) -> int:
    """Return how many rows to score together, so that their intervals take some 16 MB.

    Examples
    --------
    >>> rows_at_once(2), rows_at_once(200)
    (50000, 5000)
    """
    return max(1, min(_MOST_ROWS, _MOST_ENDS // (2 * n_groups)))


@dataclass(frozen=True)
class Scores:
    """Scores of rows; what could not be scored is NaN.

    Attributes
    ----------
    probability : ndarray of shape (n,)
        Score of the overall classifier.
    intervals : ndarray of shape (n, K, 2)
        Certified interval of every group's own score.
    reasons : ndarray of object
        Why a row could not be scored; None where it was.
    """

    probability: Floats
    intervals: Floats
    reasons: Reasons

    def frame(
        self, groups: Sequence[Hashable], labels: tuple[Any, Any], *, threshold: float
    ) -> pd.DataFrame:
        """Return one row per row: probability, prediction, intervals, and reasons if any."""
        columns: dict[str, Any] = {
            "probability": self.probability,
            "prediction": decisions(self.probability, labels, threshold=threshold),
        }
        for position, group in enumerate(groups):
            columns[f"lower_{group_text(group)}"] = self.intervals[:, position, 0]
            columns[f"upper_{group_text(group)}"] = self.intervals[:, position, 1]
        if any(reason is not None for reason in self.reasons):
            columns[REASON] = pd.Series(self.reasons, dtype="str")
        return pd.DataFrame(columns)


def score(classifier: "FairSmoothClassifier", features: Any, reasons: Reasons) -> Scores:
    """Score rows once; rows with a reason not to are left out and come back as NaN."""
    n_rows = len(features)
    usable = np.array([reason is None for reason in reasons], dtype=bool)
    if n_rows and usable.all():
        return Scores(*classifier.predict_with_interval(features), reasons)
    probability = np.full(n_rows, np.nan)
    intervals = np.full((n_rows, len(classifier.groups_), 2), np.nan)
    if usable.any():
        found = classifier.predict_with_interval(features[usable])
        probability[usable], intervals[usable] = found
    return Scores(probability, intervals, reasons)


def refuse_reasons(reasons: Reasons, *, first_row: int = 0) -> None:
    """Raise the first reason, with the row it is about, if there is any."""
    bad = np.flatnonzero([reason is not None for reason in reasons])
    if len(bad):
        more = f" {len(bad) - 1} more rows cannot be used." if len(bad) > 1 else ""
        new = "not seen in training" in reasons[bad[0]]
        remedy = " Correct them, or use unknown='ignore'." if new else ""
        raise InputError(f"Row {first_row + int(bad[0]) + 1}: {reasons[bad[0]]}.{more}{remedy}")


def scorable_rows(
    reasons: Reasons, *, among: NDArray[np.bool_], strict: bool
) -> tuple[NDArray[np.bool_], list[str]]:
    """Tell which rows can be scored, with a note on others ``among`` those that were wanted.

    ``strict`` refuses them.
    """
    reasons = reasons.copy()
    reasons[~among] = None
    scored = np.array([reason is None for reason in reasons], dtype=bool)
    if scored.all():
        return scored, []
    if strict:
        refuse_reasons(reasons)
    if not scored[among].any():
        try:
            refuse_reasons(reasons)
        except InputError as error:
            raise NoRows(str(error)) from error
    count, first = int((~scored).sum()), int(np.argmin(scored))
    many = "row cannot be scored and is" if count == 1 else "rows cannot be scored and are"
    return scored, [f"{count} {many} left out (in row {first + 1}, {reasons[first]})."]


def with_reason_column(scored: pd.DataFrame) -> pd.DataFrame:
    """Return scored rows with a column of reasons, empty if there was none to give."""
    if REASON in scored:
        return scored
    return scored.assign(**{REASON: pd.Series([None] * len(scored), dtype="str")})


def decisions(probability: Floats, labels: tuple[Any, Any], *, threshold: float) -> Any:
    """Return the negative or positive label of every row, missing where the score is."""
    codes = (probability > threshold).astype(int)
    values = np.array(labels, dtype=object)[codes]
    values[np.isnan(probability)] = None
    kinds = {type(label) for label in labels}
    dtype = _DTYPES.get(kinds.pop(), "str") if len(kinds) == 1 else "object"
    return pd.Series(values, dtype=dtype)


def kept_columns(table: pd.DataFrame, names: Sequence[str], written: Sequence[str]) -> pd.DataFrame:
    """Return columns to carry along, refusing names that the output has for itself."""
    for name in names:
        if name in written:
            raise InputError(
                f"Expected columns to keep with names of their own, got {name!r}, which the output "
                "writes. Rename it, or leave it out."
            )
    return table[list(dict.fromkeys(names))].reset_index(drop=True)


def of_a_table(saved: SavedModel) -> SavedModel:
    """Refuse a file whose features are made by steps of scikit-learn: it knows no table."""
    if saved.pipeline is not None:
        raise InputError(
            "Expected a model of a table, got a scikit-learn pipeline, which knows no label or "
            "groups. Use it in Python: fairsmooth.persistence.load(path)."
        )
    return saved


def matrix_of(classifier: "FairSmoothClassifier", table: pd.DataFrame) -> pd.DataFrame | Floats:
    """Return the features of a classifier that was saved without an encoder."""
    names = getattr(classifier, "feature_names_in_", None)
    count = classifier.n_features_in_
    if names is not None:
        missing = [str(name) for name in names if name not in table.columns]
        if missing:
            raise InputError(f"Expected the columns of the model, found no column {missing[0]!r}.")
        table = table[list(names)]
    if table.shape[1] != count:
        raise InputError(f"Expected {count} columns, those of the model, got {table.shape[1]}.")
    try:
        matrix = table.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InputError(
            "Expected numbers only, for a model that was saved without an encoder, got something "
            f"else: {error}."
        ) from error
    if not np.isfinite(matrix).all():
        row = int(np.argmax(~np.isfinite(matrix).all(axis=1)))
        raise InputError(f"Expected finite numbers, got another value in row {row + 1}.")
    return matrix if names is None else pd.DataFrame(matrix, columns=names)
