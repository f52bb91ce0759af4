"""Reliability: whether of those who score 0.7, seven in ten are positive, group by group."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from fairsmooth.metrics.auditing.score_records import BIN, N_BINS
from fairsmooth.metrics.record import by_metric_and_group

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.metrics.auditing.result import Audit


def reliability(audit: "Audit") -> "pd.DataFrame":
    """Return how scores and labels agree, one row per group and tenth of the scores with rows.

    Returns
    -------
    DataFrame
        ``group`` (None for all rows), ``from`` and ``to`` of the scores, their
        ``mean_score``, the ``positive_share`` of their rows with the ends ``low`` and ``high``
        of its exact interval, ``count``, and ``agrees``: whether the mean score lies in that
        interval. The interval is of one share; among many bins a few fall outside by chance.
        Empty without labels, or without scores in [0, 1].

    Examples
    --------
    >>> from fairsmooth.metrics import audit
    >>> found = audit(
    ...     y_true=[0, 1, 0, 1], y_score=[0.7, 0.72, 0.2, 0.6], sensitive_features=list("aabb")
    ... )
    >>> first = found.reliability().iloc[0]
    >>> first["group"], float(first["mean_score"]), float(first["positive_share"])
    ('a', 0.71, 0.5)
    """
    import pandas as pd

    found = by_metric_and_group(audit.records)
    rows = [
        row
        for group in (*audit.groups, None)
        for number in range(1, N_BINS + 1)
        if (row := _row(found, group, number)) is not None
    ]
    names = ["group", "from", "to", "mean_score", "positive_share", "low", "high", "count"]
    frame = pd.DataFrame(rows, columns=[*names, "agrees"])
    return frame.assign(group=pd.Series([row["group"] for row in rows], dtype=object))


def _row(found: Any, group: Hashable | None, number: int) -> dict[str, Any] | None:
    share = found.get((f"{BIN}{number}_positive_share", group))
    mean = found.get((f"{BIN}{number}_mean_score", group))
    if share is None or mean is None:
        return None
    return {
        "group": group,
        "from": (number - 1) / N_BINS,
        "to": number / N_BINS,
        "mean_score": mean.value,
        "positive_share": share.value,
        "low": share.low,
        "high": share.high,
        "count": share.count,
        "agrees": bool(share.low <= mean.value <= share.high),
    }
