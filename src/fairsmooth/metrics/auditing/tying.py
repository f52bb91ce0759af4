"""The tying cost: what each group's own classifier gave up for being tied to the others."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.metrics.auditing.rate_records import mean_records
from fairsmooth.metrics.intervals import bounded_mean_intervals, paired_mean_intervals
from fairsmooth.metrics.own import free_scores
from fairsmooth.metrics.record import Record
from fairsmooth.metrics.samples import Samples
from fairsmooth.metrics.scored import ScoredRows

LOSS, ACCURACY = "tying_cost_log_loss", "tying_cost_accuracy"


def tying_records(clf: Any, X: Any, scored: ScoredRows, *, confidence: float) -> Iterator[Record]:
    r"""Yield the loss and accuracy that each group's :math:`W_k` gave up.

    The certificate compares the overall classifier with the groups' own, and
    those were trained with a tie between them. Against the same classifier
    trained on the group alone (``alpha = 0``), on the rows of the group at hand:

    - ``tying_cost_log_loss``: log-loss of the group's own minus that of the free one;
    - ``tying_cost_accuracy``: accuracy of the free one minus that of the group's own.

    Positive means that the tie cost the group something, and so what a common shift of all
    groups' classifiers cost it: the free one is not shifted. The first has Student's
    interval, which is approximate; that of the second holds for any sample size.
    Neither is known without labels.
    """
    if scored.own_scores is None or scored.y is None:
        return
    tail = (1.0 - confidence) / 2.0
    known = getattr(clf, "free_group_parameters_", None) is not None
    untied = getattr(clf, "alpha", None) == 0 and getattr(clf, "parity_solver", "") != "decisions"
    groups = scored.groups.labels
    if not (known and hasattr(clf, "predict_proba_free")):
        why = (0.0, "exactly 0: the groups were not tied")
        if not untied:
            why = (np.nan, "unknown: no free classifier was trained")
        for group, count in zip(groups, scored.groups.counts.tolist(), strict=True):
            yield from _nothing(group, count, *why)
        return
    assert scored.threshold is not None  # a certified classifier has one
    calibrated = getattr(clf, "calibration_", None) is not None
    free, own, y = free_scores(clf, X, scored.groups), scored.own_scores, scored.y
    # A free classifier goes through no map, so it decides at ½.
    free_right = (free > (0.5 if calibrated else scored.threshold)) == y
    own_right = (own > scored.threshold) == y
    losses = scored.within_groups(_log_loss(own, y) - _log_loss(free, y))
    lost = scored.within_groups(free_right.astype(np.float64) - own_right)
    yield from _cost_records(groups, losses, lost, error=tail)


def _cost_records(
    groups: tuple[Any, ...], losses: Samples, lost: Samples, *, error: float
) -> Iterator[Record]:
    """Yield both means of every group; the intervals of all are computed at once."""
    # Differences lie in [-1, 1]; the interval is for means in [0, 1].
    halves = Samples((lost.values + 1.0) / 2.0, lost.counts)
    ends = [2.0 * end - 1.0 for end in bounded_mean_intervals(halves, error=error)]
    parts = (LOSS, losses, paired_mean_intervals(losses, error=error)), (ACCURACY, lost, ends)
    costs = [mean_records(name, groups, each.sums, each.counts, e) for name, each, e in parts]
    for group, *found in zip(groups, *costs, strict=True):
        if found[0].count:
            yield from found
        else:
            yield from _nothing(group, 0, np.nan, "undefined: no rows")


def _log_loss(scores: Floats, y: NDArray[np.int64]) -> Floats:
    tiny = np.finfo(np.float64).eps
    clipped = np.clip(scores, tiny, 1.0 - tiny)
    return np.asarray(-np.where(y == 1, np.log(clipped), np.log1p(-clipped)))


def _nothing(group: Any, n_rows: int, value: float, note: str) -> Iterator[Record]:
    for metric in (LOSS, ACCURACY):
        yield Record(metric, group, value, count=n_rows, note=note)
