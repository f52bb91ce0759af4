"""The tying cost: what each group's own classifier gave up for being tied to the others."""

from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from fairsmooth._types import Floats
from fairsmooth.core.rows import Rows
from fairsmooth.metrics.intervals import bounded_mean_interval, paired_mean_interval
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
    free_of = getattr(clf, "predict_proba_free", None)
    if getattr(clf, "free_group_parameters_", None) is None:
        free_of = None
    untied = getattr(clf, "alpha", None) == 0 and getattr(clf, "parity_solver", "") != "decisions"
    for code, group in enumerate(scored.groups.labels):
        rows = np.flatnonzero(scored.groups.codes == code)
        own, y = scored.own_scores[rows, code], scored.y[rows]
        if free_of is None and untied:
            yield from _nothing(group, len(rows), 0.0, "exactly 0: the groups were not tied")
        elif free_of is None:
            yield from _nothing(group, len(rows), np.nan, "unknown: no free classifier was trained")
        elif not len(rows):
            yield from _nothing(group, 0, np.nan, "undefined: no rows")
        else:
            free = np.asarray(free_of(take(X, rows), group), dtype=np.float64)[:, 1]
            assert scored.threshold is not None  # a certified classifier has one
            calibrated = getattr(clf, "calibration_", None) is not None
            # A free classifier goes through no map, so it decides at ½.
            cuts = (scored.threshold, 0.5 if calibrated else scored.threshold)
            yield from _costs(group, y, own, free, cuts=cuts, error=tail)


def take(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of a frame, an array, or rows in a compact form."""
    if isinstance(X, Rows) or issparse(X):
        return X[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame[rows].to_native() if isinstance(frame, nw.DataFrame) else np.asarray(X)[rows]


def _costs(
    group: Any,
    y: NDArray[np.int64],
    own: Floats,
    free: Floats,
    *,
    cuts: tuple[float, float],
    error: float,
) -> Iterator[Record]:
    given_up = _log_loss(own, y) - _log_loss(free, y)
    low, high = paired_mean_interval(given_up, error=error)
    yield Record(LOSS, group, float(given_up.mean()), low, high, len(y))
    lost = ((free > cuts[1]) == y).astype(float) - ((own > cuts[0]) == y)
    # Differences lie in [-1, 1]; the interval is for means in [0, 1].
    low, high = bounded_mean_interval((lost + 1.0) / 2.0, error=error)
    yield Record(ACCURACY, group, float(lost.mean()), 2.0 * low - 1.0, 2.0 * high - 1.0, len(y))


def _log_loss(scores: Floats, y: NDArray[np.int64]) -> Floats:
    tiny = np.finfo(np.float64).eps
    clipped = np.clip(scores, tiny, 1.0 - tiny)
    return np.asarray(-np.where(y == 1, np.log(clipped), np.log1p(-clipped)))


def _nothing(group: Any, n_rows: int, value: float, note: str) -> Iterator[Record]:
    for metric in (LOSS, ACCURACY):
        yield Record(metric, group, value, count=n_rows, note=note)
