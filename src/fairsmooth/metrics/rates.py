"""Records of the rates of every group and of the gaps between groups."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.metrics._averages import RATES, gaps_of, group_samples, means_of, rate_parts
from fairsmooth.metrics._scored import ScoredRows
from fairsmooth.metrics.gap_intervals import RateFamily, gap_interval, largest_gap_interval
from fairsmooth.metrics.intervals import (
    binomial_bounds,
    binomial_interval,
    bounded_mean_bounds,
    bounded_mean_interval,
)
from fairsmooth.metrics.noise_floor import NoiseFloor, noise_floor
from fairsmooth.metrics.record import Record

EXPECTED = "expected_"

_UNDEFINED = {
    "true_positive_rate": "undefined: no positive rows",
    "false_positive_rate": "undefined: no negative rows",
}


def rate_records(scored: ScoredRows, *, confidence: float) -> Iterator[Record]:
    """Yield selection, true positive, false positive and error rate, and accuracy.

    Twice: as decided at the threshold (``selection_rate``, ...), with exact
    binomial intervals; and with every score taken as the probability of a
    positive decision (``expected_selection_rate``, ...), which is what the
    certificate speaks about, with intervals for means in [0, 1].
    """
    tail = (1.0 - confidence) / 2.0
    for prefix, scores in (("", scored.decisions), (EXPECTED, scored.scores)):
        for name, (value, rows) in rate_parts(scores, scored.y).items():
            for group, members in _members(scored):
                sample = value[rows & members]
                yield _rate(prefix + name, group, sample, error=tail, exact=not prefix)
    correct = scored.decisions == (scored.y == 1)
    for group, members in _members(scored):
        yield _rate("accuracy", group, correct[members].astype(float), error=tail, exact=True)


def gap_records(scored: ScoredRows, *, confidence: float, random_state: int) -> Iterator[Record]:
    """Yield the three gaps, for decisions and in expectation, beside their noise floor."""
    codes, n_groups = scored.groups.codes, len(scored.groups.labels)
    floors = noise_floor(
        scored.decisions, scored.y, codes, n_groups=n_groups, random_state=random_state
    )
    for prefix, scores in (("", scored.decisions), (EXPECTED, scored.scores)):
        families = _families(scored, scores, exact=not prefix)
        values = gaps_of(*(families[name].values for name in RATES[:3]))
        ends = _gap_ends(families, confidence=confidence)
        for name, value in values.items():
            gap, (low, high) = float(value), ends[name]
            note = _gap_note(gap, low, floors[name]) if not prefix or np.isnan(gap) else ""
            yield Record(prefix + name, None, gap, low, high, len(scored.y), note=note)
    for name, floor in floors.items():
        yield Record(
            f"{name}_noise_floor",
            None,
            floor.mean,
            0.0,
            floor.quantile,
            len(scored.y),
            note="gap of a perfectly fair classifier on these counts; high is its 95 % quantile",
        )


def _members(scored: ScoredRows) -> Iterator[tuple[object, NDArray[np.bool_]]]:
    for code, group in enumerate(scored.groups.labels):
        yield group, scored.groups.codes == code
    yield None, np.ones(len(scored.y), dtype=bool)


def _rate(metric: str, group: object, sample: Floats, *, error: float, exact: bool) -> Record:
    if not len(sample):
        note = _UNDEFINED.get(metric.removeprefix(EXPECTED), "undefined: no rows")
        return Record(metric, group, float("nan"), 0.0, 1.0, 0, note=note)
    if exact:
        low, high = map(float, binomial_interval(sample.sum(), len(sample), error=error))
    else:
        low, high = bounded_mean_interval(sample, error=error)
    return Record(metric, group, float(sample.mean()), low, high, len(sample))


def _families(scored: ScoredRows, scores: NDArray[Any], *, exact: bool) -> dict[str, RateFamily]:
    codes, n_groups = scored.groups.codes, len(scored.groups.labels)
    families = {}
    for name, (value, rows) in rate_parts(scores, scored.y).items():
        samples = group_samples(value, rows, codes=codes, n_groups=n_groups)
        hits, counts = [sample.sum() for sample in samples], [len(sample) for sample in samples]
        bounds = binomial_bounds(hits, counts) if exact else bounded_mean_bounds(samples)
        families[name] = RateFamily(means_of(samples), bounds)
    return families


def _gap_ends(
    families: dict[str, RateFamily], *, confidence: float
) -> dict[str, tuple[float, float]]:
    odds = families["true_positive_rate"], families["false_positive_rate"]
    return {
        "demographic_parity": gap_interval(families["selection_rate"], confidence=confidence),
        "equalized_odds_sum": gap_interval(*odds, confidence=confidence),
        "equalized_odds_max": largest_gap_interval(*odds, confidence=confidence),
    }


def _gap_note(gap: float, low: float, floor: NoiseFloor) -> str:
    if np.isnan(gap):
        return "undefined: fewer than two groups have the rate"
    # One of two rates may differ for sure though their sum, or maximum, is within the noise.
    if gap > floor.quantile or low > 0.0:
        return ""
    return (
        "the data cannot tell this gap from none: on these counts a perfectly fair classifier "
        f"shows {floor.mean:.4f} on average and up to {floor.quantile:.4f} in 95 % of samples"
    )
