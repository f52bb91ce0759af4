"""The claims on sampling weights."""

import pandas as pd

from fairsmooth.experiments.claims.claim import Predicate
from fairsmooth.experiments.claims.verdict import FAILS, HOLDS, UNKNOWN, Verdict


def error_below(limit: float, n_draws: int) -> Predicate:
    """No score sampled with that many draws is off by more than a limit."""

    def verdict(rows: pd.DataFrame) -> Verdict:
        errors = _at(rows, n_draws, "largest_error")
        if errors.empty:
            return Verdict(UNKNOWN, f"not run with {n_draws:,} draws")
        evidence = f"largest error {errors.max():.4f}"
        return Verdict(HOLDS if errors.max() < limit else FAILS, evidence)

    return verdict


def slower_than_exact(n_draws: int) -> Predicate:
    """Exact smoothing takes longer than that many draws, in every model."""

    def verdict(rows: pd.DataFrame) -> Verdict:
        factors = _at(rows, n_draws, "slowdown")
        if factors.empty:
            return Verdict(UNKNOWN, f"not run with {n_draws:,} draws")
        evidence = f"sampling takes {factors.min():,.0f} to {factors.max():,.0f} times as long"
        return Verdict(HOLDS if (factors < 1.0).all() else FAILS, evidence)

    return verdict


def _at(rows: pd.DataFrame, n_draws: int, name: str) -> "pd.Series[float]":
    if name not in rows:
        return pd.Series(dtype=float)
    return rows.loc[rows["value"] == n_draws, name].dropna()
