"""The claims that tables make: best, better, beyond a limit, a gain on average."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from fairsmooth.experiments.claims.claim import Predicate
from fairsmooth.experiments.claims.estimate import Estimate, estimate
from fairsmooth.experiments.claims.select_rows import by_trial, is_exact, mean_of, points, sign_of
from fairsmooth.experiments.claims.verdict import UNKNOWN, Verdict, every, most
from fairsmooth.experiments.declaration import BASELINES

OURS = "fairsmooth"


def best_in_most(
    cases: Sequence[str], metrics: Sequence[str], *, others: Sequence[str] = BASELINES
) -> Predicate:
    """FairSmooth is not worse than any other in most pairs of case and measure."""
    return lambda rows: most(
        [_best(rows, metric, case, others) for case in cases for metric in metrics]
    )


def best_in_all(
    cases: Sequence[str], metrics: Sequence[str], *, others: Sequence[str] = BASELINES
) -> Predicate:
    """FairSmooth is not worse than any other in every pair of case and measure."""
    return lambda rows: every(
        [_best(rows, metric, case, others) for case in cases for metric in metrics]
    )


def best_along(
    axis: str, case: str, metrics: Sequence[str], *, others: Sequence[str] = BASELINES
) -> Predicate:
    """FairSmooth is not worse than any other at most points of an axis, all measures together."""
    return lambda rows: most(
        [
            _best(rows, metric, case, others, axis=axis, value=value)
            for value in points(rows, axis)
            for metric in metrics
        ]
    )


def better_in_most(
    than: str, cases: Sequence[str], metrics: Sequence[str], *, method: str = OURS
) -> Predicate:
    """A method is better than another in most pairs of case and measure."""
    return lambda rows: most(
        [_better(rows, metric, case, method, than) for case in cases for metric in metrics]
    )


def better_in_all(
    than: str, cases: Sequence[str], metrics: Sequence[str], *, method: str = OURS
) -> Predicate:
    """A method is better than another in every pair of case and measure."""
    return lambda rows: every(
        [_better(rows, metric, case, method, than) for case in cases for metric in metrics]
    )


def beyond(
    metric: str, limit: float, cases: Iterable[str], *, axis: str = "", method: str = OURS
) -> Predicate:
    """A method is on the good side of a limit in every case, and at every point of the axis."""

    def one(rows: pd.DataFrame, case: str, value: float | None) -> Verdict:
        table = by_trial(rows, metric, case, axis=axis, value=value)
        found = estimate(table.get(method, []), exact=is_exact(rows))
        signed = Estimate(sign_of(metric) * found.value, found.half_width)
        outcome = signed.compared(sign_of(metric) * limit, strictly=True)
        place = case if value is None else f"{case} at {value:g}"
        return Verdict(outcome, f"{place}: {_number(found)}, limit {limit:g}")

    def verdict(rows: pd.DataFrame) -> Verdict:
        values = points(rows, axis) if axis else [None]
        return every([one(rows, case, value) for case in cases for value in values])

    return verdict


def average_gain(
    metric: str, stated: float, cases: Sequence[str], *, others: Sequence[str] = BASELINES
) -> Predicate:
    """The gain over the others, relative to the larger value, is the stated one on average.

    The paper does not say what its percentages are relative to; this reading stays
    finite where a method's gap is 0 and comes nearest to the stated figures.
    """

    def verdict(rows: pd.DataFrame) -> Verdict:
        gains = [
            _gains(by_trial(rows, metric, case), metric, other)
            for case in cases
            for other in others
        ]
        if any(gain.empty for gain in gains):
            return Verdict(UNKNOWN, "some methods have no rows")
        found = estimate(pd.concat(gains, axis=1).mean(axis=1), exact=is_exact(rows))
        # The stated percentages are rounded to a tenth.
        outcome = found.compared(stated - 0.0005)
        return Verdict(outcome, f"{_percent(found)} on average, {stated:.1%} stated")

    return verdict


def gain_over_best(
    metric: str, stated: float, case: str, *, others: Sequence[str] = BASELINES
) -> Predicate:
    """The gain over the best other method, relative to it, is the stated one."""

    def verdict(rows: pd.DataFrame) -> Verdict:
        table = by_trial(rows, metric, case)
        known = [other for other in others if other in table]
        if OURS not in table or not known:
            return Verdict(UNKNOWN, "no rows")
        means = table[known].mean() * sign_of(metric)
        found = estimate(_gains(table, metric, str(means.idxmax())), exact=is_exact(rows))
        evidence = f"{_percent(found)} over {means.idxmax()}, {stated:.1%} stated"
        return Verdict(found.compared(stated - 0.0005), evidence)

    return verdict


def within(metric: str, slack: float, control: str, cases: Sequence[str]) -> Predicate:
    """FairSmooth is at most ``slack`` worse than a control, in every case."""

    def one(rows: pd.DataFrame, case: str) -> Verdict:
        table = by_trial(rows, metric, case)
        if OURS not in table or control not in table:
            return Verdict(UNKNOWN, f"{case}: no rows")
        lost = sign_of(metric) * (table[OURS] - table[control])
        evidence = f"{case}: {table[OURS].mean():.3f} against {table[control].mean():.3f}"
        return Verdict(estimate(lost, exact=is_exact(rows)).compared(-slack), evidence)

    return lambda rows: every([one(rows, case) for case in cases])


def reaches(metric: str, limits: Mapping[str, float]) -> Predicate:
    """FairSmooth is at least as good as the number printed for each case."""

    def one(rows: pd.DataFrame, case: str, limit: float) -> Verdict:
        found = mean_of(rows, metric, case, OURS)
        signed = Estimate(sign_of(metric) * found.value, found.half_width)
        outcome = signed.compared(sign_of(metric) * limit)
        return Verdict(outcome, f"{case}: {_number(found)}, printed {limit:g}")

    return lambda rows: every([one(rows, case, limit) for case, limit in limits.items()])


def _gains(table: pd.DataFrame, metric: str, other: str) -> "pd.Series[float]":
    if OURS not in table or other not in table:
        return pd.Series(dtype=float)
    ours, theirs = table[OURS], table[other]
    larger = table[[OURS, other]].max(axis=1)
    return (sign_of(metric) * (ours - theirs) / larger.where(larger > 0)).fillna(0.0)


def _best(
    rows: pd.DataFrame,
    metric: str,
    case: str,
    others: Sequence[str],
    *,
    axis: str = "",
    value: float | None = None,
) -> Verdict:
    table = by_trial(rows, metric, case, axis=axis, value=value)
    answers = [_compare(table, rows, metric, case, OURS, other) for other in others]
    outcome = every(answers).outcome
    known = [other for other in others if other in table]
    if OURS not in table or not known:
        return Verdict(outcome, f"{case}, {_words(metric)}: no rows")
    rival = str((sign_of(metric) * table[known].mean()).idxmax())
    return Verdict(outcome, _compare(table, rows, metric, case, OURS, rival).evidence)


def _better(rows: pd.DataFrame, metric: str, case: str, method: str, than: str) -> Verdict:
    table = by_trial(rows, metric, case)
    return _compare(table, rows, metric, case, method, than, strictly=True)


def _compare(
    table: pd.DataFrame,
    rows: pd.DataFrame,
    metric: str,
    case: str,
    method: str,
    other: str,
    *,
    strictly: bool = False,
) -> Verdict:
    if method not in table or other not in table:
        return Verdict(UNKNOWN, f"{case}: no rows of {method if method not in table else other}")
    found = estimate(sign_of(metric) * (table[method] - table[other]), exact=is_exact(rows))
    evidence = (
        f"{case}, {_words(metric)}: {table[method].mean():.3f} "
        f"against {table[other].mean():.3f} of {other}"
    )
    return Verdict(found.compared(strictly=strictly), evidence)


def _words(metric: str) -> str:
    return metric.replace("_", " ")


def _number(found: Estimate) -> str:
    if not np.isfinite(found.value):
        return "not measured"
    return f"{found.value:.4f}" + (f" ± {found.half_width:.4f}" if 0 < found.half_width < 9 else "")


def _percent(found: Estimate) -> str:
    if not np.isfinite(found.value):
        return "not measured"
    return f"{found.value:.1%}" + (f" ± {found.half_width:.1%}" if 0 < found.half_width < 9 else "")
