"""An audit as fairlearn's MetricFrame, for those who work with that.

An audit holds no rows. Every rate of decisions is a ratio of two counts, so rows with the same
counts are made of the records: whatever a MetricFrame measures of labels, decisions and groups
is the same on them, though not their order.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth.exceptions import InputError
from fairsmooth.metrics.record import Record


def metric_frame(records: Sequence[Record], groups: Sequence[Hashable]) -> Any:
    """Return a MetricFrame with accuracy, rates and counts by group."""
    try:
        from fairlearn import metrics
        from sklearn.metrics import accuracy_score
    except ImportError as error:
        raise InputError(
            "Expected the package fairlearn, which has MetricFrame, found none. "
            "Install it with pip install 'fairsmooth[compare]'."
        ) from error
    found = {(record.metric, record.group): record for record in records}
    labelled = ("true_positive_rate", groups[0]) in found
    rows = [_rows(found, group, place, labelled) for place, group in enumerate(groups)]
    y_true, y_pred, codes = np.concatenate(rows, axis=1)
    measured: dict[str, Any] = {"count": metrics.count, "selection_rate": metrics.selection_rate}
    if labelled:
        measured |= {
            "accuracy": accuracy_score,
            "true_positive_rate": metrics.true_positive_rate,
            "false_positive_rate": metrics.false_positive_rate,
        }
    return metrics.MetricFrame(
        metrics=measured,
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=_sensitive(groups, codes),
    )


def _rows(
    found: dict[tuple[str, Hashable], Record], group: Hashable, place: int, labelled: bool
) -> Any:
    """Return labels, decisions and the group's place, one column per row of the group."""
    if not labelled:
        # Without labels decisions stand in for them: nothing that is measured looks at them.
        n_selected, n_rows = _counted(found["selection_rate", group])
        decisions = np.repeat([1, 0], [n_selected, n_rows - n_selected])
        return np.vstack([decisions, decisions, np.full(n_rows, place)])
    hits, n_positive = _counted(found["true_positive_rate", group])
    alarms, n_negative = _counted(found["false_positive_rate", group])
    cells = [hits, n_positive - hits, alarms, n_negative - alarms]
    truth, decisions = np.repeat([1, 1, 0, 0], cells), np.repeat([1, 0, 1, 0], cells)
    return np.vstack([truth, decisions, np.full(len(truth), place)])


def _counted(record: Record) -> tuple[int, int]:
    """Return how many of how many, from a rate of decisions and the rows it rests on."""
    return (round(record.value * record.count) if record.count else 0), record.count


def _sensitive(groups: Sequence[Hashable], codes: Any) -> pd.DataFrame:
    parts = [group if isinstance(group, tuple) else (group,) for group in groups]
    names = ["group"] if len(parts[0]) == 1 else [f"group_{k + 1}" for k in range(len(parts[0]))]
    return pd.DataFrame([parts[code] for code in codes], columns=names)
