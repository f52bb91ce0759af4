"""Records of how well scores rank and how well they are calibrated, group by group."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from fairsmooth._types import Floats, Labels
from fairsmooth.metrics.auditing.rate_records import rate_record
from fairsmooth.metrics.intervals import bounded_mean_interval, u_statistic_interval
from fairsmooth.metrics.record import Record
from fairsmooth.metrics.scored import ScoredRows

N_BINS = 10
# Before the names of bins: what they hold is for plots, too much for a line per group.
BIN = "calibration_bin_"


def score_records(scored: ScoredRows, *, confidence: float) -> Iterator[Record]:
    r"""Yield AUC and calibration of every group, then of all rows; nothing without labels.

    - ``auc``: the probability that a positive row scores higher than a negative one, ties
      counting half;
    - ``calibration``: mean score minus base rate, 0 where scores are right on average;
    - ``brier_score``: the mean of :math:`(s - y)^2`;
    - ``expected_calibration_error``: the mean, over rows, of how far the positive share of
      a row's bin is from its mean score, in 10 bins of equal width. It has no interval, and
      chance raises it where bins have few rows;
    - ``calibration_bin_<n>_positive_share`` and ``…_mean_score`` of every bin with rows.

    All but the first need scores in [0, 1].
    """
    ranking = scored.scores if scored.ranking is None else scored.ranking
    if scored.y is None or ranking is None:
        return
    if scored.certificate is not None:
        # Smooth scores are known to about 1e-9: rows that are equal shall tie, whatever other rows
        # they were scored with and on whatever machine.
        ranking = np.round(ranking, 12)
    tail = (1.0 - confidence) / 2.0
    # A mask at a time: of many groups and rows, all of them would be most of an audit's memory.
    masks = (scored.groups.codes == code for code in range(len(scored.groups.labels)))
    everyone = np.ones(scored.n_rows, dtype=bool)
    for group, rows in zip((*scored.groups.labels, None), chain(masks, (everyone,)), strict=True):
        yield _auc(group, ranking[rows], scored.y[rows], error=tail)
        if scored.scores is not None:
            yield from _calibration(group, scored.scores[rows], scored.y[rows], error=tail)


def area_under_curve(scores: Floats, y: Labels) -> float:
    """Return the share of pairs of a positive and a negative row that scores rank right.

    Examples
    --------
    >>> area_under_curve(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]))
    0.75
    """
    n_positive = int((y == 1).sum())
    n_pairs = n_positive * (len(y) - n_positive)
    if not n_pairs:
        return float("nan")
    ranks = rankdata(scores)[y == 1].sum()
    return float((ranks - n_positive * (n_positive + 1) / 2.0) / n_pairs)


def _auc(group: Any, scores: Floats, y: Labels, *, error: float) -> Record:
    value = area_under_curve(scores, y)
    if np.isnan(value):
        note = "undefined: needs positive and negative rows"
        return Record("auc", group, value, 0.0, 1.0, len(y), note=note)
    fewest = int(min((y == 1).sum(), (y == 0).sum()))
    low, high = u_statistic_interval(value, fewest, error=error)
    return Record("auc", group, value, low, high, len(y))


def _calibration(group: Any, scores: Floats, y: Labels, *, error: float) -> Iterator[Record]:
    n_rows = len(y)
    if not n_rows:
        for metric, low in (("calibration", -1.0), ("brier_score", 0.0)):
            yield Record(metric, group, np.nan, low, 1.0, 0, note="undefined: no rows")
        yield Record("expected_calibration_error", group, np.nan, note="undefined: no rows")
        return
    differences = scores - y
    # Differences lie in [-1, 1]; the interval is for means in [0, 1].
    low, high = bounded_mean_interval((differences + 1.0) / 2.0, error=error)
    mean = float(differences.mean())
    yield Record("calibration", group, mean, 2.0 * low - 1.0, 2.0 * high - 1.0, n_rows)
    yield rate_record("brier_score", group, differences**2, error=error, exact=False)
    bins = np.minimum((scores * N_BINS).astype(np.int64), N_BINS - 1)
    sums = np.bincount(bins, weights=differences, minlength=N_BINS)
    off = float(np.abs(sums).sum() / n_rows)
    note = f"{N_BINS} bins of equal width; chance raises it where bins have few rows"
    yield Record("expected_calibration_error", group, off, count=n_rows, note=note)
    for number in np.unique(bins):
        yield from _bin(group, int(number), scores, y, bins == number, error=error)


def _bin(
    group: Any, number: int, scores: Floats, y: Labels, rows: NDArray[np.bool_], *, error: float
) -> Iterator[Record]:
    name = f"{BIN}{number + 1}"
    share = y[rows].astype(np.float64)
    yield rate_record(f"{name}_positive_share", group, share, error=error, exact=True)
    yield Record(f"{name}_mean_score", group, float(scores[rows].mean()), count=int(rows.sum()))
