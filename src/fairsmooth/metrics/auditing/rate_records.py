"""Records of the rates of every group and of the gaps between groups."""

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.metrics.gap_intervals import RateFamily, gap_interval, largest_gap_interval
from fairsmooth.metrics.intervals import binomial_interval
from fairsmooth.metrics.noise_floor import NoiseFloor, noise_floor
from fairsmooth.metrics.rates import gaps_of, group_rates_of
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
            ends = scored.bounds[prefix][name](tail)
            yield from mean_records(prefix + name, groups, samples.sums, samples.counts, ends)
    if scored.y is None:
        return
    wrong = scored.samples[""]["error_rate"]
    yield from share_records(
        "accuracy", groups, wrong.counts - wrong.sums, wrong.counts, error=tail
    )


def gap_records(scored: ScoredRows, *, confidence: float, random_state: int) -> Iterator[Record]:
    """Yield the three gaps, for decisions and in expectation, beside their noise floor."""
    floors = noise_floor(scored.decisions, scored.y, scored.groups, random_state=random_state)
    for prefix, scores in scored.by_kind().items():
        rates = group_rates_of(scores, scored.y, scored.groups)
        families = {
            name: RateFamily(rates[name][:-1], bounds)
            for name, bounds in scored.bounds[prefix].items()
        }
        ends = gap_ends(families, confidence=confidence)
        for name, value in gaps_of(rates).items():
            gap, (low, high) = float(value), ends[name]
            note = _gap_note(gap, low, floors[name]) if not prefix or np.isnan(gap) else ""
            apart = "" if np.isnan(gap) else _left_out(name, families)
            note = "; ".join(part for part in (apart, note) if part)
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
    sums: NDArray[Any],
    counts: NDArray[np.intp],
    ends: Sequence[Floats],
) -> Iterator[Record]:
    """Yield every group's mean of so many numbers in [0, 1], with the ends of its interval."""
    nothing = _UNDEFINED.get(metric.removeprefix(EXPECTED), "undefined: no rows")
    columns = (column.tolist() for column in (sums, counts, *ends))
    for group, total, count, low, high in zip(groups, *columns, strict=True):
        value, note = (total / count, "") if count else (math.nan, nothing)
        yield Record(metric, group, value, low, high, count, None, note)


def share_records(
    metric: str,
    groups: Sequence[Hashable | None],
    hits: NDArray[Any],
    counts: NDArray[np.intp],
    *,
    error: float,
) -> Iterator[Record]:
    """Yield every group's share of hits, with its exact interval."""
    ends = binomial_interval(hits, counts, error=error)
    yield from mean_records(metric, groups, hits, counts, ends)


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


def _left_out(name: str, families: dict[str, RateFamily]) -> str:
    """Say how many groups a gap does not speak of, for want of a rate."""
    parity = name == "demographic_parity"
    rates = ("selection_rate",) if parity else ("true_positive_rate", "false_positive_rate")
    lacking = int(np.isnan([families[rate].values for rate in rates]).any(axis=0).sum())
    words = "lacks" if lacking == 1 else "lack"
    return f"over the groups that have the rates; {lacking} {words} one" if lacking else ""


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
