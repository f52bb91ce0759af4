"""Records of the rates of every group and of the gaps between groups."""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.metrics.gap_intervals import RateFamily, gap_interval, largest_gap_interval
from fairsmooth.metrics.intervals import (
    binomial_bounds,
    binomial_interval,
    bounded_mean_bounds,
    bounded_mean_intervals,
)
from fairsmooth.metrics.noise_floor import NoiseFloor, noise_floor
from fairsmooth.metrics.rates import Rates, gaps_of, group_rates_of
from fairsmooth.metrics.record import Record
from fairsmooth.metrics.scored import EXPECTED, ScoredRows

_UNDEFINED = {
    "true_positive_rate": "undefined: no positive rows",
    "false_positive_rate": "undefined: no negative rows",
    "false_negative_rate": "undefined: no positive rows",
    "precision": "undefined: no positive decisions",
}


def rate_records(scored: ScoredRows, *, confidence: float) -> Iterator[Record]:
    """Yield selection, true positive, false positive and error rate, and accuracy.

    Twice: as decided at the threshold (``selection_rate``, ...), with exact
    binomial intervals; and with every score taken as the probability of a
    positive decision (``expected_selection_rate``, ...), which is what the
    certificate speaks about, with intervals for means in [0, 1]. Where there are no
    labels, what needs none; where there are no scores, decisions alone.
    """
    tail = (1.0 - confidence) / 2.0
    groups = (*scored.groups.labels, None)
    for prefix, by_rate in scored.samples.items():
        for name, samples in by_rate.items():
            yield from mean_records(prefix + name, groups, samples, error=tail, exact=not prefix)
    if scored.y is None:
        return
    right = [1.0 - wrong for wrong in scored.samples[""]["error_rate"]]
    yield from mean_records("accuracy", groups, right, error=tail, exact=True)


def gap_records(scored: ScoredRows, *, confidence: float, random_state: int) -> Iterator[Record]:
    """Yield the three gaps, for decisions and in expectation, beside their noise floor."""
    floors = noise_floor(scored.decisions, scored.y, scored.groups, random_state=random_state)
    for prefix, scores in scored.by_kind().items():
        rates = group_rates_of(scores, scored.y, scored.groups)
        families = _families(rates, scored.samples[prefix], exact=not prefix)
        ends = gap_ends(families, confidence=confidence)
        for name, value in gaps_of(rates).items():
            gap, (low, high) = float(value), ends[name]
            note = _gap_note(gap, low, floors[name]) if not prefix or np.isnan(gap) else ""
            yield Record(prefix + name, None, gap, low, high, scored.n_rows, note=note)
    for name, floor in floors.items():
        yield Record(
            f"{name}_noise_floor",
            None,
            floor.mean,
            0.0,
            floor.quantile,
            scored.n_rows,
            note="gap of a perfectly fair classifier on these counts; high is its 95 % quantile",
        )


def mean_records(
    metric: str,
    groups: Sequence[Hashable | None],
    samples: list[Floats],
    *,
    error: float,
    exact: bool,
) -> Iterator[Record]:
    """Yield the mean of every group's sample in [0, 1] with its interval.

    Exact where all values are 0 or 1. All intervals are computed at once.
    """
    counts = [len(sample) for sample in samples]
    sums = [float(sample.sum()) for sample in samples]
    if exact:
        ends = binomial_interval(sums, counts, error=error)
    else:
        ends = bounded_mean_intervals(samples, error=error)
    lows, highs = (end.tolist() for end in ends)
    nothing = _UNDEFINED.get(metric.removeprefix(EXPECTED), "undefined: no rows")
    for group, total, count, low, high in zip(groups, sums, counts, lows, highs, strict=True):
        value, note = (total / count, "") if count else (float("nan"), nothing)
        yield Record(metric, group, value, low, high, count, note=note)


def _families(
    rates: Rates, samples_by_rate: dict[str, list[Floats]], *, exact: bool
) -> dict[str, RateFamily]:
    families = {}
    for name, (*samples, _) in samples_by_rate.items():
        hits, counts = [sample.sum() for sample in samples], [len(sample) for sample in samples]
        bounds = binomial_bounds(hits, counts) if exact else bounded_mean_bounds(samples)
        families[name] = RateFamily(rates[name][:-1], bounds)
    return families


def gap_ends(
    families: dict[str, RateFamily], *, confidence: float
) -> dict[str, tuple[float, float]]:
    """Return the interval of every gap, from the rates of the groups."""
    parity = gap_interval(families["selection_rate"], confidence=confidence)
    if "true_positive_rate" not in families:
        return {"demographic_parity": parity}
    odds = families["true_positive_rate"], families["false_positive_rate"]
    return {
        "demographic_parity": parity,
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
