"""Rates of each group and gaps between groups, on fairlearn's metrics."""

from typing import Any

import numpy as np
import pandas as pd
from fairlearn.metrics import (
    MetricFrame,
    count,
    demographic_parity_difference,
    false_positive_rate,
    selection_rate,
    true_positive_rate,
)
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, zero_one_loss

from fairsmooth import _validate
from fairsmooth.data.groups import Groups, encode_groups
from fairsmooth.exceptions import InputError

EQUALIZED_ODDS_KINDS = ("sum", "max")

_METRICS = {
    "count": count,
    "selection_rate": selection_rate,
    "true_positive_rate": true_positive_rate,
    "false_positive_rate": false_positive_rate,
    "error_rate": zero_one_loss,
    "accuracy": accuracy_score,
}


def accuracy(y_true: Any, y_pred: Any) -> float:
    """Return the share of rows whose predicted label is the true one.

    Examples
    --------
    >>> accuracy([0, 1, 1, 0], [0, 1, 0, 0])
    0.75
    """
    return float(accuracy_score(_column(y_true), _column(y_pred)))


def demographic_parity_gap(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, pos_label: Any = None
) -> float:
    r"""Return the largest difference of selection rates between two groups.

    .. math:: \Delta_{DP} = \max_k P(\hat y = 1 \mid k) - \min_k P(\hat y = 1 \mid k)

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels; ``y_true`` is not used, and is there so that
        every metric is called alike.
    sensitive_features : array-like of shape (n,) or (n, c)
        The group of every row; several columns make intersectional groups.
    pos_label : label, optional
        The positive label; the larger one if left out.

    Examples
    --------
    >>> demographic_parity_gap([0, 1, 0, 1], [1, 1, 0, 1], sensitive_features=list("aabb"))
    0.5
    """
    truth, predicted, groups = _encoded(y_true, y_pred, sensitive_features, pos_label)
    return float(demographic_parity_difference(truth, predicted, sensitive_features=groups.codes))


def equalized_odds_gap(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    kind: str = "sum",
    pos_label: Any = None,
) -> float:
    r"""Return how far the groups' true and false positive rates differ.

    With :math:`\Delta_{TPR}` and :math:`\Delta_{FPR}` the differences between the
    largest and the smallest rate of a group,

    - ``kind="sum"``: :math:`\Delta_{TPR} + \Delta_{FPR}`, between 0 and 2. This is
      the paper's: its Table 4 prints 1.19, which no maximum can be;
    - ``kind="max"``: :math:`\max(\Delta_{TPR}, \Delta_{FPR})`, fairlearn's default.

    A group without positive rows has no true positive rate and is left out of
    that gap, and likewise without negative rows. The gap is NaN if fewer than
    two groups have the rate.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels.
    sensitive_features : array-like of shape (n,) or (n, c)
        The group of every row; several columns make intersectional groups.
    kind : {"sum", "max"}
        Which of the two is meant.
    pos_label : label, optional
        The positive label; the larger one if left out.

    Examples
    --------
    >>> y, predicted, group = [0, 1, 0, 1], [1, 1, 0, 1], list("aabb")
    >>> equalized_odds_gap(y, predicted, sensitive_features=group, kind="sum")
    1.0
    """
    _validate.one_of(EQUALIZED_ODDS_KINDS, kind=kind)
    rates = group_rates(y_true, y_pred, sensitive_features=sensitive_features, pos_label=pos_label)
    gaps = [_range(rates[name]) for name in ("true_positive_rate", "false_positive_rate")]
    return float(sum(gaps) if kind == "sum" else np.max(gaps))


def group_rates(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, pos_label: Any = None
) -> pd.DataFrame:
    """Return count, rates and accuracy of every group, one row per group.

    Columns: ``count``; ``selection_rate``, the share predicted positive;
    ``true_positive_rate``, that share among the positive rows (NaN if there are
    none); ``false_positive_rate``, that share among the negative rows (NaN if
    there are none); ``error_rate``, the share predicted wrongly; ``accuracy``.

    Examples
    --------
    >>> rates = group_rates([0, 1, 0, 0], [1, 1, 0, 1], sensitive_features=list("aabb"))
    >>> rates.loc["b", ["selection_rate", "true_positive_rate"]].tolist()
    [0.5, nan]
    """
    truth, predicted, groups = _encoded(y_true, y_pred, sensitive_features, pos_label)
    frame: pd.DataFrame = MetricFrame(
        metrics=_METRICS, y_true=truth, y_pred=predicted, sensitive_features=groups.codes
    ).by_group.astype({"count": int})
    positives = np.bincount(groups.codes, weights=truth, minlength=len(groups.labels))
    # fairlearn calls the rate among no rows 0, which would make a gap out of nothing.
    frame.loc[positives == 0, "true_positive_rate"] = np.nan
    frame.loc[positives == groups.counts, "false_positive_rate"] = np.nan
    frame.index = pd.Index(list(groups.labels), name="group", tupleize_cols=False)
    return frame


def _encoded(
    y_true: Any, y_pred: Any, sensitive_features: Any, pos_label: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], Groups]:
    truth, predicted = _column(y_true), _column(y_pred)
    _validate.same_length(y_true=truth, y_pred=predicted)
    if not len(truth):
        raise InputError("Expected at least 1 row in y_true, got none.")
    positive = _positive_label(np.union1d(truth, predicted), pos_label)
    groups = encode_groups(sensitive_features, n_rows=len(truth))
    return (truth == positive).astype(np.int64), (predicted == positive).astype(np.int64), groups


def _positive_label(labels: NDArray[Any], pos_label: Any) -> Any:
    if len(labels) > 2:
        raise InputError(f"Expected 2 labels in y_true and y_pred, got {labels.tolist()}.")
    if pos_label is not None:
        return pos_label
    if len(labels) == 2:
        return labels[-1]
    if labels[0] in (0, 1, -1):
        return 1
    raise InputError(
        f"Expected 2 labels in y_true and y_pred, got {labels.tolist()}. "
        "Pass pos_label to say which label is the positive one."
    )


def _column(values: Any) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim != 1:
        raise InputError(f"Expected one label per row, got an array of shape {column.shape}.")
    return column


def _range(rates: "pd.Series[float]") -> float:
    defined = rates.dropna()
    return float(defined.max() - defined.min()) if len(defined) > 1 else float("nan")
