"""Rates of each group and gaps between groups, for labels of any type."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._types import Floats
from fairsmooth.data.given_groups import given_groups
from fairsmooth.data.groups import Groups, encode_groups
from fairsmooth.data.row_weights import comparable
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.rates import Rates, cell_sums, gaps_of, rates_of

EQUALIZED_ODDS_KINDS = ("sum", "max")


def accuracy(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Return the share of rows, or of their weights, whose predicted label is the true one.

    Examples
    --------
    >>> accuracy([0, 1, 1, 0], [0, 1, 0, 0])
    0.75
    """
    truth, predicted = _column(y_true), _column(y_pred)
    _validate.same_length(y_true=truth, y_pred=predicted)
    weights = row_weights(sample_weight, len(truth))
    return float(np.average(truth == predicted, weights=weights))


def demographic_parity_gap(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    pos_label: Any = None,
    sample_weight: Any = None,
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
    sample_weight : array-like of shape (n,), optional
        How much each row counts, at least 0; all alike if left out.

    Examples
    --------
    >>> demographic_parity_gap([0, 1, 0, 1], [1, 1, 0, 1], sensitive_features=list("aabb"))
    0.5
    """
    rates, _ = _rates(y_true, y_pred, sensitive_features, pos_label, sample_weight)
    # Of one group alone, largest and smallest are the same; one without weight has no rate.
    selected = rates["selection_rate"][:-1]
    return float(np.nanmax(selected) - np.nanmin(selected))


def equalized_odds_gap(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    kind: str = "sum",
    pos_label: Any = None,
    sample_weight: Any = None,
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
    sample_weight : array-like of shape (n,), optional
        How much each row counts, at least 0; all alike if left out.

    Examples
    --------
    >>> y, predicted, group = [0, 1, 0, 1], [1, 1, 0, 1], list("aabb")
    >>> equalized_odds_gap(y, predicted, sensitive_features=group, kind="sum")
    1.0
    """
    _validate.one_of(EQUALIZED_ODDS_KINDS, kind=kind)
    rates, _ = _rates(y_true, y_pred, sensitive_features, pos_label, sample_weight)
    return float(gaps_of(rates)[f"equalized_odds_{kind}"])


def group_rates(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    pos_label: Any = None,
    sample_weight: Any = None,
) -> pd.DataFrame:
    """Return count, rates and accuracy of every group, one row per group.

    Columns: ``count``; ``selection_rate``, the share predicted positive;
    ``true_positive_rate``, that share among the positive rows (NaN if there are
    none); ``false_positive_rate``, that share among the negative rows (NaN if
    there are none); ``error_rate``, the share predicted wrongly; ``accuracy``. With
    ``sample_weight`` shares are of the rows' weights; ``count`` is still that of the rows.

    Examples
    --------
    >>> rates = group_rates([0, 1, 0, 0], [1, 1, 0, 1], sensitive_features=list("aabb"))
    >>> rates.loc["b", ["selection_rate", "true_positive_rate"]].tolist()
    [0.5, nan]
    """
    rates, groups = _rates(y_true, y_pred, sensitive_features, pos_label, sample_weight)
    columns = {name: values[:-1] for name, values in rates.items()}
    return pd.DataFrame(
        {"count": groups.counts, **columns, "accuracy": 1.0 - columns["error_rate"]},
        index=pd.Index(list(groups.labels), name="group", tupleize_cols=False),
    )


def _rates(
    y_true: Any, y_pred: Any, sensitive_features: Any, pos_label: Any, sample_weight: Any
) -> tuple[Rates, Groups]:
    truth, predicted = _column(y_true), _column(y_pred)
    _validate.same_length(y_true=truth, y_pred=predicted)
    if not len(truth):
        raise InputError("Expected at least 1 row in y_true, got none.")
    positive = positive_label(np.union1d(truth, predicted), pos_label)
    groups = encode_groups(given_groups(sensitive_features), n_rows=len(truth))
    weights = row_weights(sample_weight, len(truth))
    return rates_of(*cell_sums(predicted == positive, truth == positive, groups, weights)), groups


def row_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return finite weights of at least 0, one per row and not all 0; None if none are given."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    usable = weights.shape == (n_rows,) and np.isfinite(weights).all() and (weights >= 0).all()
    if not usable or not weights.any():
        raise InputError(
            f"Expected sample_weight with a finite number of at least 0 for each of {n_rows} "
            f"rows, not all 0, got shape {weights.shape} or other numbers."
        )
    return comparable(weights)


def positive_label(labels: NDArray[Any], pos_label: Any) -> Any:
    """Return which of the sorted labels is the positive one: as told, or the larger."""
    if len(labels) > 2:
        raise InputError(f"Expected 2 labels in y_true and y_pred, got {labels.tolist()}.")
    if pos_label is not None:
        if len(labels) == 2 and pos_label not in labels.tolist():
            raise InputError(
                f"Expected pos_label among the labels {labels.tolist()}, got {pos_label!r}."
            )
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
