"""Records of how well scores rank and how well they are calibrated, group by group."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats, Labels
from fairsmooth.data.groups import Groups
from fairsmooth.metrics.auditing.rate_records import mean_records
from fairsmooth.metrics.intervals import (
    binomial_interval,
    bounded_mean_intervals,
    u_statistic_interval,
)
from fairsmooth.metrics.rates import RATES
from fairsmooth.metrics.record import Record
from fairsmooth.metrics.samples import Samples, order_by, shares
from fairsmooth.metrics.scored import ScoredRows

N_BINS = 10
# Before the names of bins: what they hold is for plots, too much for a line per group.
BIN = "calibration_bin_"
_BIN_NAMES = [
    (f"{BIN}{number}_positive_share", f"{BIN}{number}_mean_score")
    for number in range(1, N_BINS + 1)
]
_ERROR_NOTE = f"{N_BINS} bins of equal width; chance raises it where bins have few rows"


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
    groups, tail = (*scored.groups.labels, None), (1.0 - confidence) / 2.0
    aucs = _aucs(groups, ranking, scored, error=tail)
    if scored.scores is None:
        yield from aucs
        return
    rest = _calibrations(groups, scored, error=tail)
    bins = _Bins.of(scored).records(groups, error=tail)
    for auc, calibration, by_bin in zip(aucs, rest, bins, strict=True):
        yield auc
        yield from calibration
        yield from by_bin


def areas_under_curve(scores: Floats, y: Labels, groups: Groups) -> Floats:
    """Return, of each group, the share of pairs of a positive and a negative row ranked right.

    NaN where there are no pairs, or scores that are no numbers.

    Examples
    --------
    >>> groups = Groups(("a", "b"), np.array([0, 0, 0, 0, 1]))
    >>> scores = np.array([0.1, 0.4, 0.35, 0.8, 0.5])
    >>> areas_under_curve(scores, np.array([0, 0, 1, 1, 1]), groups).tolist()
    [0.75, nan]
    """
    counts = groups.counts
    rising = np.argsort(scores)
    order = rising[order_by(groups.codes[rising], len(counts))]
    scores, codes, positive = scores[order], groups.codes[order], y[order] == 1
    # Rows of a group with equal scores share the mean of their places.
    differ = (scores[1:] != scores[:-1]) | (codes[1:] != codes[:-1])
    starts = np.flatnonzero(np.append(True, differ))
    lengths = np.diff(starts, append=len(scores))
    places = np.repeat(starts + (lengths + 1) / 2.0, lengths)
    places -= np.repeat(np.cumsum(counts) - counts, counts)
    ranks = np.bincount(codes, np.where(positive, places, 0.0), minlength=len(counts))
    ranks[codes[np.isnan(scores)]] = np.nan
    n_positive = np.bincount(codes[positive], minlength=len(counts))
    n_pairs = n_positive * (counts - n_positive)
    return shares(ranks - n_positive * (n_positive + 1) / 2.0, n_pairs)


def _aucs(
    groups: Sequence[Hashable | None], ranking: Floats, scored: ScoredRows, *, error: float
) -> Iterator[Record]:
    y = scored.truth
    everybody = Groups((None,), np.zeros(len(y), dtype=np.intp))
    parts = [areas_under_curve(ranking, y, each) for each in (scored.groups, everybody)]
    values = np.concatenate(parts)
    counts, positive = (scored.samples[""][name].counts for name in RATES[:2])
    fewest = np.minimum(positive, counts - positive)
    # Without pairs anything is possible; the note says why.
    low, high = np.zeros(len(values)), np.ones(len(values))
    known = np.flatnonzero(fewest)
    low[known], high[known] = u_statistic_interval(values[known], fewest[known], error=error)
    columns = (column.tolist() for column in (values, low, high, counts, fewest))
    for group, value, low_end, high_end, count, pairs in zip(groups, *columns, strict=True):
        note = "" if pairs else "undefined: needs positive and negative rows"
        yield Record("auc", group, value, low_end, high_end, count, None, note)


def _calibrations(
    groups: Sequence[Hashable | None], scored: ScoredRows, *, error: float
) -> Iterator[tuple[Record, Record]]:
    """Yield calibration and Brier score of every group; the intervals of all are found at once."""
    off = scored.probabilities - scored.truth
    differences = scored.within_groups(off).followed_by(off)
    counts = differences.counts
    # Differences lie in [-1, 1]; the interval is for means in [0, 1].
    halves = Samples((differences.values + 1.0) / 2.0, counts)
    ends = [2.0 * end - 1.0 for end in bounded_mean_intervals(halves, error=error)]
    squares = Samples(differences.values**2, counts)
    brier_ends = bounded_mean_intervals(squares, error=error)
    yield from zip(
        mean_records("calibration", groups, differences.sums, counts, ends),
        mean_records("brier_score", groups, squares.sums, counts, brier_ends),
        strict=True,
    )


@dataclass(frozen=True)
class _Bins:
    """Scores in bins, a row per group and one for all: rows, positive ones, and mean scores.

    ``off`` is how far mean scores are from shares, on average over the rows of a group.
    """

    counts: NDArray[np.intp]
    hits: NDArray[Any]
    means: Floats
    off: Floats

    @classmethod
    def of(cls, scored: ScoredRows) -> "_Bins":
        scores, y = scored.probabilities, scored.truth
        shape = len(scored.groups.labels) + 1, N_BINS
        bins = np.minimum((scores * N_BINS).astype(np.intp), N_BINS - 1)
        cells = np.append(scored.groups.codes * N_BINS + bins, (shape[0] - 1) * N_BINS + bins)
        size = shape[0] * N_BINS
        counts = np.bincount(cells, minlength=size)
        hits = np.bincount(cells, np.tile(y, 2), minlength=size)
        sums = np.bincount(cells, np.tile(scores - y, 2), minlength=size).reshape(shape)
        means = Samples(np.tile(scores, 2)[order_by(cells, size)], counts).means
        counts = counts.reshape(shape)
        off = shares(np.abs(sums).sum(axis=1), counts.sum(axis=1))
        return cls(counts, hits.reshape(shape), means.reshape(shape), off)

    def records(self, groups: Sequence[Hashable | None], *, error: float) -> Iterator[list[Record]]:
        """Yield the expected calibration error, and share and mean of every bin with rows."""
        ends = binomial_interval(self.hits, self.counts, error=error)
        each = (self.counts, self.hits, *ends, self.means)
        columns = (column.tolist() for column in (self.off, *each))
        for group, off, *by_bin in zip(groups, *columns, strict=True):
            n_rows = sum(by_bin[0])
            note = _ERROR_NOTE if n_rows else "undefined: no rows"
            found = [Record("expected_calibration_error", group, off, count=n_rows, note=note)]
            for (share, score), count, hits, low, high, mean in zip(
                _BIN_NAMES, *by_bin, strict=True
            ):
                if count:
                    found.append(Record(share, group, hits / count, low, high, count))
                    found.append(Record(score, group, mean, None, None, count))
            yield found
