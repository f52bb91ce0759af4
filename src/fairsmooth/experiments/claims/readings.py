"""Whether some reading of the paper's training meets the rows that it prints."""

from typing import Any

import pandas as pd

from fairsmooth.experiments.claims.claim import Predicate
from fairsmooth.experiments.claims.estimate import margin_of
from fairsmooth.experiments.claims.printed import read_printed
from fairsmooth.experiments.claims.select_rows import printed_rounding
from fairsmooth.experiments.claims.verdict import FAILS, HOLDS, UNKNOWN, Verdict, every
from fairsmooth.experiments.declaration import MAIN_METRICS

# Gaps of decisions, or of scores taken as chances.
KINDS = {"decisions": "", "scores": "expected_"}


def some_reading_meets(printed: str) -> Predicate:
    """At some schedule and pair every printed figure of a case is met, in every case."""
    wanted = read_printed(printed).set_index("case")[list(MAIN_METRICS)]

    def one(rows: pd.DataFrame, case: str) -> Verdict:
        own = rows[rows["case"] == case]
        own = own[own[MAIN_METRICS[0]].notna()] if MAIN_METRICS[0] in own else own.iloc[:0]
        if own.empty:
            return Verdict(UNKNOWN, f"{case}: no rows")
        parts: list[pd.DataFrame] = []
        parts += [_away(own, wanted.xs(case), prefix) for prefix in KINDS.values()]
        away = pd.concat(parts)
        furthest = away.max(axis=1).min()
        evidence = f"{case}: the nearest is off by {max(0.0, furthest):.3f} in a figure"
        return Verdict(HOLDS if furthest <= 0.0 else FAILS, evidence)

    def verdict(rows: pd.DataFrame) -> Verdict:
        return every([one(rows, case) for case in wanted.index])

    return verdict


def _away(rows: pd.DataFrame, wanted: Any, prefix: str) -> pd.DataFrame:
    """Return by how much each figure is further off than margin and rounding grant."""
    names = [MAIN_METRICS[0], *(f"{prefix}{name}" for name in MAIN_METRICS[1:])]
    means = rows.fillna({"value": -1.0}).groupby(["method", "value"])[names].mean()
    means.columns = pd.Index(MAIN_METRICS)
    granted = pd.Series({name: margin_of(name) + printed_rounding(name) for name in MAIN_METRICS})
    return ((means - wanted).abs() - granted).reset_index(drop=True)
