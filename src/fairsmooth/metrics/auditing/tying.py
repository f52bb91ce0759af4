"""The tying cost: what each group's own classifier gave up for being tied to the others."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.metrics.intervals import bounded_mean_intervals, paired_mean_intervals
from fairsmooth.metrics.own import free_scores
from fairsmooth.metrics.record import Record
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
    groups, members = scored.groups.labels, scored.members
    if not (known and hasattr(clf, "predict_proba_free")):
        why = (0.0, "exactly 0: the groups were not tied")
        if not untied:
            why = (np.nan, "unknown: no free classifier was trained")
        for group, rows in zip(groups, members, strict=True):
            yield from _nothing(group, len(rows), *why)
        return
    assert scored.threshold is not None  # a certified classifier has one
    calibrated = getattr(clf, "calibration_", None) is not None
    # A free classifier goes through no map, so it decides at ½.
    cuts = (scored.threshold, 0.5 if calibrated else scored.threshold)
    free = free_scores(clf, X, scored.groups)
    costs = [
        _costs(scored.y[rows], scored.own_scores[rows], free[rows], cuts=cuts) for rows in members
    ]
    yield from _cost_records(groups, costs, error=tail)


def _costs(
    y: NDArray[np.int64], own: Floats, free: Floats, *, cuts: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return, row by row, the log-loss and the right decisions that were given up."""
    given_up = _log_loss(own, y) - _log_loss(free, y)
    return given_up, ((free > cuts[1]) == y).astype(float) - ((own > cuts[0]) == y)


def _cost_records(
    groups: tuple[Any, ...], costs: list[tuple[Floats, Floats]], *, error: float
) -> Iterator[Record]:
    """Yield both means of every group; the intervals of all are computed at once."""
    losses = paired_mean_intervals([given_up for given_up, _ in costs], error=error)
    # Differences lie in [-1, 1]; the interval is for means in [0, 1].
    shares = bounded_mean_intervals([(lost + 1.0) / 2.0 for _, lost in costs], error=error)
    ends = losses, tuple(2.0 * end - 1.0 for end in shares)
    for place, (group, found) in enumerate(zip(groups, costs, strict=True)):
        if not len(found[0]):
            yield from _nothing(group, 0, np.nan, "undefined: no rows")
            continue
        for metric, values, (low, high) in zip((LOSS, ACCURACY), found, ends, strict=True):
            numbers = float(values.mean()), float(low[place]), float(high[place])
            yield Record(metric, group, *numbers, len(values))


def _log_loss(scores: Floats, y: NDArray[np.int64]) -> Floats:
    tiny = np.finfo(np.float64).eps
    clipped = np.clip(scores, tiny, 1.0 - tiny)
    return np.asarray(-np.where(y == 1, np.log(clipped), np.log1p(-clipped)))


def _nothing(group: Any, n_rows: int, value: float, note: str) -> Iterator[Record]:
    for metric in (LOSS, ACCURACY):
        yield Record(metric, group, value, count=n_rows, note=note)
