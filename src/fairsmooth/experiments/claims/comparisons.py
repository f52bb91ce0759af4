"""The claims that tables make: best, better, beyond a limit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from fairsmooth.experiments.claims.claim import Predicate
from fairsmooth.experiments.claims.estimate import Estimate, estimate, margin_of, some_below
from fairsmooth.experiments.claims.select_rows import (
    by_trial,
    is_exact,
    mean_of,
    points,
    rounding_of,
    sign_of,
)
from fairsmooth.experiments.claims.verdict import FAILS, HOLDS, UNKNOWN, Verdict, every, most
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
        found = estimate(table.get(method, []), rounding=rounding_of(rows, metric))
        outcome = _signed(found, metric).compared(sign_of(metric) * limit, strictly=True)
        place = case if value is None else f"{case} at {value:g}"
        return Verdict(outcome, f"{place}: {_number(found)}, limit {limit:g}")

    def verdict(rows: pd.DataFrame) -> Verdict:
        values = points(rows, axis) if axis else [None]
        return every([one(rows, case, value) for case in cases for value in values])

    return verdict


def within(metric: str, slack: float, control: str, cases: Sequence[str]) -> Predicate:
    """FairSmooth is at most ``slack`` worse than a control, in every case."""

    def one(rows: pd.DataFrame, case: str) -> Verdict:
        table = by_trial(rows, metric, case)
        if OURS not in table or control not in table:
            return Verdict(UNKNOWN, f"{case}: no rows")
        lost = sign_of(metric) * (table[OURS] - table[control])
        evidence = f"{case}: {table[OURS].mean():.3f} against {table[control].mean():.3f}"
        found = estimate(lost, rounding=rounding_of(rows, metric, 2))
        return Verdict(found.compared(-slack), evidence)

    return lambda rows: every([one(rows, case) for case in cases])


def reaches(metric: str, limits: Mapping[str, float]) -> Predicate:
    """FairSmooth is at least as good as the number printed for each case."""

    def one(rows: pd.DataFrame, case: str, limit: float) -> Verdict:
        found = mean_of(rows, metric, case, OURS)
        outcome = _signed(found, metric).compared(sign_of(metric) * limit)
        return Verdict(outcome, f"{case}: {_number(found)}, printed {limit:g}")

    return lambda rows: every([one(rows, case, limit) for case, limit in limits.items()])


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
    known = [other for other in others if other in table]
    if OURS not in table or not known:
        return Verdict(UNKNOWN, f"{case}, {_words(metric)}: no rows")
    leads = [_lead(table, rows, metric, other) for other in known]
    rival = str((sign_of(metric) * table[known].mean()).idxmax())
    evidence = _means(table, metric, case, OURS, rival)
    return Verdict(_not_worse(leads, margin_of(metric), complete=known == list(others)), evidence)


def _not_worse(leads: Sequence[Estimate], margin: float, *, complete: bool) -> str:
    """Hold if no lead is below the margin; fail if some lead is negative, one error for all.

    "Not worse than any" is an intersection, each part of which is tested at the full error;
    "worse than some" is a union, for which the error is shared out (Holm).
    """
    if leads[0].rounding > 0.0:
        behind = any(lead.compared() == FAILS for lead in leads)
        return FAILS if behind else HOLDS
    if complete and all(lead.compared(margin=margin) == HOLDS for lead in leads):
        return HOLDS
    return FAILS if some_below(leads, margin) else UNKNOWN


def _better(rows: pd.DataFrame, metric: str, case: str, method: str, than: str) -> Verdict:
    table = by_trial(rows, metric, case)
    if method not in table or than not in table:
        return Verdict(UNKNOWN, f"{case}: no rows of {method if method not in table else than}")
    lead = _lead(table, rows, metric, than, method=method)
    outcome = lead.compared(strictly=True, margin=margin_of(metric))
    return Verdict(outcome, _means(table, metric, case, method, than))


def _lead(
    table: pd.DataFrame, rows: pd.DataFrame, metric: str, other: str, *, method: str = OURS
) -> Estimate:
    """Return by how much a method is better than another; distances and bounds as ratios."""
    if margin_of(metric) == 0.0 and not is_exact(rows):
        both = table[[method, other]].where(table > 0.0).map(np.log)
        return estimate(sign_of(metric) * (both[method] - both[other]))
    difference = sign_of(metric) * (table[method] - table[other])
    return estimate(difference, rounding=rounding_of(rows, metric, 2))


def _means(table: pd.DataFrame, metric: str, case: str, method: str, other: str) -> str:
    return (
        f"{case}, {_words(metric)}: {table[method].mean():.3f} "
        f"against {table[other].mean():.3f} of {other}"
    )


def _signed(found: Estimate, metric: str) -> Estimate:
    return replace(found, value=sign_of(metric) * found.value)


def _words(metric: str) -> str:
    return metric.replace("_", " ")


def _number(found: Estimate) -> str:
    if not np.isfinite(found.value):
        return "not measured"
    return f"{found.value:.4f}" + (f" ± {found.half_width:.4f}" if 0 < found.half_width < 9 else "")
