"""The claims that state percentages: ratios, tested in logarithms, on both sides of the figure."""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from fairsmooth.experiments.claims.claim import Predicate
from fairsmooth.experiments.claims.comparisons import OURS
from fairsmooth.experiments.claims.estimate import Estimate, estimate
from fairsmooth.experiments.claims.select_rows import by_trial, is_exact, sign_of
from fairsmooth.experiments.claims.verdict import FAILS, HOLDS, UNKNOWN, Verdict
from fairsmooth.experiments.declaration import BASELINES
from fairsmooth.experiments.settings import ROUNDING

# The stated percentages are rounded to a tenth.
_STATED = 0.0005
# A gain this near to the stated one is the stated one, where it is measured.
NEAR = 0.05
# A gap below this is no smaller gap: a thousandth is a few rows of a test part.
LEAST = 0.001


def average_gain(
    metric: str, stated: float, cases: Sequence[str], *, others: Sequence[str] = BASELINES
) -> Predicate:
    """The gain over the others, relative to the larger value, is the stated one on average.

    The paper does not say what its percentages are relative to; this reading comes nearest to
    the stated figures. Measured gains are averaged and tested as logarithms of ratios.
    """

    def verdict(rows: pd.DataFrame) -> Verdict:
        tables = [by_trial(rows, metric, case) for case in cases]
        if any(name not in table for table in tables for name in (OURS, *others)):
            return Verdict(UNKNOWN, "some methods have no rows")
        if is_exact(rows):
            return _printed(tables, metric, others, stated, "on average")
        logs = [_logs(table, metric, other) for table, other in product(tables, others)]
        found = estimate(pd.concat(logs, axis=1).mean(axis=1))
        return _measured(found, stated, "on average")

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
        best = str((table[known].mean() * sign_of(metric)).idxmax())
        if is_exact(rows):
            return _printed([table], metric, [best], stated, f"over {best}")
        return _measured(estimate(_logs(table, metric, best)), stated, f"over {best}")

    return verdict


def _logs(table: pd.DataFrame, metric: str, other: str) -> "pd.Series[float]":
    """Return by trial the logarithm of how many times better we are than another."""
    ours, theirs = (table[name].clip(lower=LEAST) for name in (OURS, other))
    return sign_of(metric) * pd.Series(np.log(ours / theirs), index=table.index)


def _gain(log: float) -> float:
    """Return a logarithm of a ratio as a gain, relative to the larger of the two."""
    return math.copysign(-math.expm1(-abs(log)), log)


def _printed(
    tables: Sequence[pd.DataFrame], metric: str, others: Sequence[str], stated: float, words: str
) -> Verdict:
    """Ask whether numbers that round to the printed ones would give what is stated."""

    def mean(ours: float, theirs: float) -> float:
        gains = [
            _relative(float(table[OURS].iloc[0]) + ours, float(table[other].iloc[0]) + theirs)
            for table in tables
            for other in others
        ]
        return sign_of(metric) * float(np.mean(gains))

    ends = [mean(ours, -ours) for ours in (-ROUNDING, ROUNDING)]
    low, high = min(ends) - _STATED, max(ends) + _STATED
    evidence = f"{mean(0.0, 0.0):.1%} {words} ({low:.1%} to {high:.1%} before rounding)"
    outcome = HOLDS if low <= stated <= high else FAILS
    return Verdict(outcome, f"{evidence}, {stated:.1%} stated")


def _relative(ours: float, theirs: float) -> float:
    larger = max(ours, theirs)
    return (ours - theirs) / larger if larger > 0.0 else 0.0


def _measured(found: Estimate, stated: float, words: str) -> Verdict:
    if not math.isfinite(found.value) or not math.isfinite(found.half_width):
        return Verdict(UNKNOWN, "fewer than two trials")
    low, high = _gain(found.low), _gain(found.high)
    evidence = f"{_gain(found.value):.1%} ({low:.1%} to {high:.1%}) {words}, {stated:.1%} stated"
    if not low - _STATED <= stated <= high + _STATED:
        return Verdict(FAILS, evidence)
    near = stated - NEAR <= low and high <= stated + NEAR
    return Verdict(HOLDS if near else UNKNOWN, evidence)
