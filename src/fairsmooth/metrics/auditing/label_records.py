"""Records of what labels tell beyond the rates: base rates, misses and precision."""

from collections.abc import Iterator

import numpy as np

from fairsmooth.metrics.auditing.rate_records import mean_records
from fairsmooth.metrics.record import Record
from fairsmooth.metrics.scored import ScoredRows


def label_records(scored: ScoredRows, *, confidence: float) -> Iterator[Record]:
    """Yield base rate, false negative rate and precision, with exact intervals.

    - ``base_rate``: the share of positive labels;
    - ``false_negative_rate``: the share of positive rows not selected;
    - ``precision``: the share of selected rows that are positive. Its interval takes the
      number of selected rows as given.

    Nothing without labels.
    """
    if scored.y is None:
        return
    positive = (scored.y == 1).astype(np.float64)
    missed = 1.0 - scored.decisions
    parts = {
        "base_rate": (positive, None),
        "false_negative_rate": (missed, scored.y == 1),
        "precision": (positive, scored.decisions),
    }
    tail = (1.0 - confidence) / 2.0
    for metric, (values, rows) in parts.items():
        samples = scored.by_group(values, rows)
        yield from mean_records(
            metric, (*scored.groups.labels, None), samples, error=tail, exact=True
        )
