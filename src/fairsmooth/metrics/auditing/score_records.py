"""Records of how well scores rank and how well they are calibrated, group by group."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from fairsmooth._types import Floats, Labels
from fairsmooth.metrics.auditing.rate_records import mean_records
from fairsmooth.metrics.intervals import (
    binomial_interval,
    bounded_mean_intervals,
    u_statistic_interval,
)
from fairsmooth.metrics.record import Record
from fairsmooth.metrics.scored import ScoredRows

Groups = tuple[Hashable | None, ...]

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
    groups, y = (*scored.groups.labels, None), scored.by_group(scored.y)
    aucs = _aucs(groups, scored.by_group(ranking), y, error=tail)
    if scored.scores is None:
        yield from aucs
        return
    rest = _calibrations(groups, scored.by_group(scored.scores), y, error=tail)
    for auc, calibration in zip(aucs, rest, strict=True):
        yield auc
        yield from calibration


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


def _aucs(
    groups: Groups, scores: list[Floats], y: list[Labels], *, error: float
) -> Iterator[Record]:
    values = np.array([area_under_curve(*each) for each in zip(scores, y, strict=True)])
    fewest = np.array([min((each == 1).sum(), (each == 0).sum()) for each in y])
    # Without pairs anything is possible; the note says why.
    low, high = np.zeros(len(values)), np.ones(len(values))
    known = np.flatnonzero(fewest)
    low[known], high[known] = u_statistic_interval(values[known], fewest[known], error=error)
    for place, group in enumerate(groups):
        note = "" if fewest[place] else "undefined: needs positive and negative rows"
        numbers = float(values[place]), float(low[place]), float(high[place])
        yield Record("auc", group, *numbers, len(y[place]), note=note)


def _calibrations(
    groups: Groups, scores: list[Floats], y: list[Labels], *, error: float
) -> Iterator[list[Record]]:
    """Yield the records of every group; the intervals of all are computed at once."""
    differences = [s - labels for s, labels in zip(scores, y, strict=True)]
    # Differences lie in [-1, 1]; the interval is for means in [0, 1].
    low, high = bounded_mean_intervals([(d + 1.0) / 2.0 for d in differences], error=error)
    squares = [d**2 for d in differences]
    briers = mean_records("brier_score", groups, squares, error=error, exact=False)
    by_bin = [_Bins.of(*each) for each in zip(scores, y, differences, strict=True)]
    hits, counts = np.array([b.hits for b in by_bin]), np.array([b.counts for b in by_bin])
    shares = binomial_interval(hits, counts, error=error)
    for place, (group, brier) in enumerate(zip(groups, briers, strict=True)):
        n_rows = len(y[place])
        mean = float(differences[place].mean()) if n_rows else np.nan
        ends = 2.0 * float(low[place]) - 1.0, 2.0 * float(high[place]) - 1.0
        nothing = "" if n_rows else "undefined: no rows"
        first = Record("calibration", group, mean, *ends, n_rows, note=nothing)
        share_ends = shares[0][place].tolist(), shares[1][place].tolist()
        yield [first, brier, *by_bin[place].records(group, *share_ends)]


@dataclass(frozen=True)
class _Bins:
    """Scores of one group in bins: rows, positive ones, mean scores, and how far these are off."""

    counts: NDArray[np.intp]
    hits: NDArray[Any]
    means: list[float]
    off: float

    @classmethod
    def of(cls, scores: Floats, y: Labels, differences: Floats) -> "_Bins":
        bins = np.minimum((scores * N_BINS).astype(np.int64), N_BINS - 1)
        counts = np.bincount(bins, minlength=N_BINS)
        hits = np.bincount(bins, weights=y, minlength=N_BINS)
        sums = np.bincount(bins, weights=differences, minlength=N_BINS)
        off = float(np.abs(sums).sum() / len(y)) if len(y) else np.nan
        parts = np.split(scores[np.argsort(bins, kind="stable")], np.cumsum(counts)[:-1])
        means = [float(part.mean()) if len(part) else np.nan for part in parts]
        return cls(counts, hits, means, off)

    def records(self, group: Any, low: list[float], high: list[float]) -> Iterator[Record]:
        """Yield the expected calibration error, and share and mean of every bin with rows."""
        n_rows = int(self.counts.sum())
        note = f"{N_BINS} bins of equal width; chance raises it where bins have few rows"
        note = note if n_rows else "undefined: no rows"
        yield Record("expected_calibration_error", group, self.off, count=n_rows, note=note)
        for number in np.flatnonzero(self.counts).tolist():
            name, count = f"{BIN}{number + 1}", int(self.counts[number])
            share, ends = float(self.hits[number]) / count, (low[number], high[number])
            yield Record(f"{name}_positive_share", group, share, *ends, count)
            yield Record(f"{name}_mean_score", group, self.means[number], count=count)
