"""Records of what labels tell beyond the rates: base rates, misses and precision."""

from collections.abc import Iterator

import numpy as np

from fairsmooth.metrics.auditing.rate_records import share_records
from fairsmooth.metrics.rates import RATES
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
    selected, positive = (scored.samples[""][name] for name in RATES[:2])
    parts = {
        "base_rate": (positive.counts, selected.counts),
        "false_negative_rate": (positive.counts - positive.sums, positive.counts),
        "precision": (positive.sums, selected.sums.astype(np.intp)),
    }
    groups, tail = (*scored.groups.labels, None), (1.0 - confidence) / 2.0
    for metric, (hits, counts) in parts.items():
        yield from share_records(metric, groups, hits, counts, error=tail)
