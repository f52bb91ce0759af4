"""The claims on distances and certificates."""

from collections.abc import Sequence

import pandas as pd

from fairsmooth.experiments.claims.claim import Predicate
from fairsmooth.experiments.claims.comparisons import OURS
from fairsmooth.experiments.claims.verdict import FAILS, HOLDS, UNKNOWN, Verdict


def no_certificate(method: str, cases: Sequence[str]) -> Predicate:
    """A method's certificate is not finite in any trial, and FairSmooth's is in all."""

    def verdict(rows: pd.DataFrame) -> Verdict:
        done = rows[(rows["status"] == "done") & rows["case"].isin(cases)]
        theirs, ours = (done[done["method"] == name] for name in (method, OURS))
        if theirs.empty or ours.empty:
            return Verdict(UNKNOWN, "no rows")
        holds = theirs["epsilon"].isna().all() and ours["epsilon"].notna().all()
        evidence = (
            f"finite in {int(theirs['epsilon'].notna().sum())} of {len(theirs)} fits of {method} "
            f"and {int(ours['epsilon'].notna().sum())} of {len(ours)} of {OURS}"
        )
        return Verdict(HOLDS if holds else FAILS, evidence)

    return verdict


def bounds_hold(cases: Sequence[str]) -> Predicate:
    """No measured difference to a group's own classifier exceeds its certified bound."""

    def verdict(rows: pd.DataFrame) -> Verdict:
        # Where no method with a certificate took part, there are no such columns.
        rows = rows.reindex(columns=["case", "method", "epsilon_tight", "measured_gap"])
        chosen = rows[rows["case"].isin(cases) & rows["method"].str.startswith(OURS)]
        chosen = chosen.dropna(subset=["epsilon_tight", "measured_gap"])
        if chosen.empty:
            return Verdict(UNKNOWN, "no rows")
        # Stored figures are rounded to six digits.
        exceeded = chosen["measured_gap"] > chosen["epsilon_tight"] + 1e-6
        used = (chosen["measured_gap"] / chosen["epsilon_tight"].where(lambda e: e > 0)).max()
        evidence = f"{int(exceeded.sum())} of {len(chosen)} exceed; the nearest uses {used:.0%}"
        return Verdict(FAILS if exceeded.any() else HOLDS, evidence)

    return verdict
