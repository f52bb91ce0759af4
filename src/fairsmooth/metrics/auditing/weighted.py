"""Records of weighted rows: rates, gaps and the impact ratio of the population they stand for."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.metrics.auditing.rate_records import gap_ends
from fairsmooth.metrics.auditing.ratio_records import IMPACT_RATIO
from fairsmooth.metrics.gap_intervals import RateFamily
from fairsmooth.metrics.intervals import binomial_bounds
from fairsmooth.metrics.rates import RATES, Rates, gaps_of, group_rates_of
from fairsmooth.metrics.record import Record
from fairsmooth.metrics.scored import ScoredRows


def weighted_records(scored: ScoredRows, weights: Floats, *, confidence: float) -> Iterator[Record]:
    r"""Yield rates, accuracy, gaps and impact ratio, every row counting by its weight.

    Intervals are approximate: those of :math:`(\sum w)^2 / \sum w^2` rows without weights
    (Kish's effective number), which is exact where all weights are equal. Nothing else of an
    audit is weighted, so nothing else is here.
    """
    tail = (1.0 - confidence) / 2.0
    for prefix, scores in scored.by_kind().items():
        rates = group_rates_of(scores, scored.y, scored.groups, weights)
        effective = {name: _effective(name, scored, weights) for name in rates}
        yield from _rate_records(prefix, rates, effective, scored, tail)
        families = {
            name: RateFamily(values[:-1], _bounds(values, effective[name], slice(0, -1)))
            for name, values in rates.items()
        }
        ends = gap_ends(families, confidence=confidence)
        for name, value in gaps_of(rates).items():
            note = "undefined: fewer than two groups have the rate" if np.isnan(value) else _NOTE
            yield Record(prefix + name, None, float(value), *ends[name], scored.n_rows, note=note)
        if not prefix:
            yield _ratio(families["selection_rate"], scored.n_rows, tail)


# How the notes of weighted records begin.
WEIGHTED = "weighted: "
_NOTE = f"{WEIGHTED}the interval is approximate"


def _rate_records(
    prefix: str, rates: Rates, effective: dict[str, Floats], scored: ScoredRows, tail: float
) -> Iterator[Record]:
    groups = (*scored.groups.labels, None)
    shown = {prefix + name: (values, effective[name]) for name, values in rates.items()}
    if not prefix and "error_rate" in rates:
        shown["accuracy"] = 1.0 - rates["error_rate"], effective["error_rate"]
    for name, (values, sizes) in shown.items():
        low, high = _bounds(values, sizes, slice(None))(tail)
        behind = _behind(name.removeprefix(prefix), scored).astype(np.float64)
        counts = _sums(behind, scored).astype(np.int64).tolist()
        for place, (group, count) in enumerate(zip(groups, counts, strict=True)):
            missing = np.isnan(values[place])
            note = (
                "undefined: no rows that count"
                if missing
                else f"{_NOTE}, that of {sizes[place]:.1f} rows without weights"
            )
            ends = float(low[place]), float(high[place])
            yield Record(name, group, float(values[place]), *ends, count, note=note)


def _effective(name: str, scored: ScoredRows, weights: Floats) -> Floats:
    """Return the effective number of rows behind a rate, of every group and of all rows."""
    used = np.where(_behind(name, scored), weights, 0.0)
    sums, squares = _sums(used, scored), _sums(used**2, scored)
    return np.divide(sums**2, squares, out=np.zeros_like(sums), where=squares > 0)


def _behind(name: str, scored: ScoredRows) -> NDArray[np.bool_]:
    """Tell which rows a rate is about: all of them, or those with its label."""
    if name not in RATES[1:3]:
        return np.ones(scored.n_rows, dtype=bool)
    assert scored.y is not None
    return np.asarray(scored.y == (name == RATES[1]))


def _sums(values: Floats, scored: ScoredRows) -> Floats:
    """Add up values of rows, in every group and in all."""
    sums = np.bincount(scored.groups.codes, values, minlength=len(scored.groups.labels))
    return np.append(sums, sums.sum())


def _bounds(values: Floats, sizes: Floats, some: slice) -> Any:
    hits = np.nan_to_num(values * sizes)
    return binomial_bounds(np.clip(hits, 0.0, sizes)[some], sizes[some])


def _ratio(selected: RateFamily, n_rows: int, tail: float) -> Record:
    """Return the least selection rate over the highest; its ends hold if those of all rates do."""
    rates = selected.values[~np.isnan(selected.values)]
    if len(rates) < 2 or rates.max() == 0.0:
        note = "undefined: fewer than two groups, or nobody is selected"
        return Record(IMPACT_RATIO, None, float("nan"), 0.0, 1.0, n_rows, note=note)
    low, high = selected.bounds(tail / len(rates))
    most = low.max()
    upper = min(1.0, high.min() / most) if most > 0 else 1.0
    ends = float(low.min() / high.max()), float(upper)
    return Record(IMPACT_RATIO, None, float(rates.min() / rates.max()), *ends, n_rows, note=_NOTE)
