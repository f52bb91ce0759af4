"""The impact ratio: selection rates over the highest, with intervals for every sample size."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats, Labels
from fairsmooth.core import contrasts
from fairsmooth.metrics.intervals import binomial_interval
from fairsmooth.metrics.record import Record
from fairsmooth.metrics.scored import ScoredRows

IMPACT_RATIO = "impact_ratio"
# The rule of the US Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4 D.
FOUR_FIFTHS = 0.8
# Rates are quotients: 0.24 / 0.3 falls short of 0.8 by rounding alone.
ROUNDING = 1e-12


def ratio_records(scored: ScoredRows, *, confidence: float) -> Iterator[Record]:
    r"""Yield every group's selection rate over the highest one, then the least of these.

    The least, :math:`\min_k q_k / \max_k q_k`, is what the four-fifths rule is about; where
    nobody is selected it is 1. With :math:`\delta` the error of the audit,

    - its lower end is the guarantee's exact bound at :math:`\delta/2`
      (:func:`fairsmooth.core.contrasts.bound`);
    - its upper end is :math:`\min_k U_k / \max_k L_k` of Clopper-Pearson ends, each at
      :math:`\delta/4K`, which all hold at once with probability at least
      :math:`1 - \delta/2`;
    - the ends for one group are :math:`L_k / \max_l U_l` with both at :math:`\delta/4`, for
      the group with the highest rate does not depend on the sample, and
      :math:`U_k / \max_l L_l` with :math:`\delta/4` and :math:`\delta/4(K-1)`; the maxima are
      over the other groups.

    Each interval holds with the audit's confidence for every sample size. Groups without rows
    take no part; a note says so.
    """
    selected = scored.samples[""]["selection_rate"]
    rows, hits = selected.counts[:-1], selected.sums[:-1].astype(np.int64)
    known = np.flatnonzero(rows)
    rates = selected.means[:-1]
    highest = np.nanmax(rates)
    ratios = rates / highest if highest > 0 else np.where(rows > 0, 1.0, np.nan)
    error = 1.0 - confidence
    lows, highs = _each_group(hits, rows, error=error)
    columns = (column.tolist() for column in (ratios, lows, highs, rows))
    for group, ratio, low, high, count in zip(scored.groups.labels, *columns, strict=True):
        if count:
            yield Record(IMPACT_RATIO, group, ratio, low, high, count)
        else:
            yield Record(IMPACT_RATIO, group, math.nan, 0.0, 1.0, 0, note="undefined: no rows")
    yield _least(hits[known], rows[known], ratios[known], len(rows) - len(known), error=error)


def four_fifths(ratio: float | None) -> str | None:
    """Say whether a measured impact ratio keeps the four-fifths rule: "kept" or "broken".

    Examples
    --------
    >>> four_fifths(0.24 / 0.3), four_fifths(0.79), four_fifths(None)
    ('kept', 'broken', None)
    """
    if ratio is None or np.isnan(ratio):
        return None
    return "kept" if ratio >= FOUR_FIFTHS - ROUNDING else "broken"


def _least(hits: Labels, rows: Labels, ratios: Floats, n_left_out: int, *, error: float) -> Record:
    n_rows = int(rows.sum())
    if len(rows) < 2:
        note = "undefined: fewer than two groups have rows"
        return Record(IMPACT_RATIO, None, np.nan, 0.0, 1.0, n_rows, note=note)
    counts = list(zip(hits.tolist(), rows.tolist(), strict=True))
    low = contrasts.bound(counts, contrasts.Contrast(ratio=True), error=error / 2.0)
    below, above = binomial_interval(hits, rows, error=error / (4.0 * len(rows)))
    high = float(_quotients(above.min(keepdims=True), below.max(keepdims=True))[0])
    note = f"over the groups with rows; {n_left_out} have none" if n_left_out else ""
    return Record(IMPACT_RATIO, None, float(ratios.min()), low, high, n_rows, note=note)


def _each_group(hits: Labels, rows: Labels, *, error: float) -> tuple[Floats, Floats]:
    """Return the ends of every group's ratio to the highest; what is without rows says nothing."""
    n_others = int((rows > 0).sum()) - 1
    if n_others < 1:
        return np.ones(len(rows)), np.ones(len(rows))
    tail = error / 4.0
    low, high = binomial_interval(hits, rows, error=tail)
    below, _ = binomial_interval(hits, rows, error=tail / n_others)
    known = rows > 0
    return _quotients(low, _of_others(high, known)), _quotients(high, _of_others(below, known))


def _of_others(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return the largest value of every group's known others."""
    seen = np.where(known, values, -np.inf)
    second, first = np.sort(seen)[-2:]
    return np.where(np.arange(len(seen)) == np.argmax(seen), second, first)


def _quotients(rates: Floats, highest: Floats) -> Floats:
    certain = np.ones(len(rates))
    return np.minimum(1.0, np.divide(rates, highest, out=certain, where=highest > 0.0))
