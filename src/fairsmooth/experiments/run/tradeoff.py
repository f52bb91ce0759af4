"""One method of the trade-off: chosen by cross-validation, fitted, measured once on the test part.

Columns are learned from the rows that a model is fitted on. ΔEO is the sum |ΔTPR| + |ΔFPR|.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from fairsmooth.datasets import FairDataset
from fairsmooth.experiments.run.ceiling import count_cells, fair_ceiling
from fairsmooth.experiments.run.columns import COLUMNS
from fairsmooth.experiments.run.data import whole
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.tradeoff_candidates import METHODS, Candidate, candidates_of
from fairsmooth.metrics.rates import measure
from fairsmooth.tuning import SearchLimits as Limits

FOLDS = 3
CEILINGS = {
    "ceiling, any rule of two forecasts": False,
    "ceiling, any rule of two forecasts and the group †": True,
}
ENTRANTS = (*METHODS, *CEILINGS)
_FORECAST_BINS = 25


def trade_off(job: Job, _: Mapping[str, Any], method: None = None) -> dict[str, Any]:
    """Return accuracy, gaps and certificate of one method, or of a ceiling."""
    goals = dict(job.extra)
    limits = Limits(goals["demographic_parity"], goals["equalized_odds_sum"], goals["epsilon"])
    if job.contender in CEILINGS:
        return {"measured": {"accuracy": _ceiling(job, limits)}}
    train, test = whole(job.case, "raw", job.max_rows).split(random_state=job.trial)
    candidates = candidates_of(job.contender, job.dataset, limits, quick=job.quick)
    chosen = _choose(candidates, train, limits, job.trial)
    part, rest = Parts(train, test).encoded(chosen.columns)
    decide, epsilon = chosen.fit(part, job.trial)
    return {"measured": {**measure(decide(rest), test.y, test.groups), "epsilon": epsilon}}


def _choose(
    candidates: list[Candidate], train: FairDataset, limits: Limits, seed: int
) -> Candidate:
    """Return the candidate that is best on the rows left out of folds of the training part."""
    if len(candidates) == 1:
        return candidates[0]
    decided = [np.empty_like(train.y) for _ in candidates]
    epsilon = [0.0 for _ in candidates]
    cells = 2 * train.groups.codes + train.y
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for kept, left in folds.split(cells, cells):
        parts = Parts(train.take(kept), train.take(left))
        for i, candidate in enumerate(candidates):
            part, rest = parts.encoded(candidate.columns)
            decide, bound = candidate.fit(part, seed)
            decided[i][left], epsilon[i] = decide(rest), max(epsilon[i], bound or 0.0)
    judged = [
        {**measure(d, train.y, train.groups), "epsilon": e}
        for d, e in zip(decided, epsilon, strict=True)
    ]
    excess = np.array([limits.excess(row) for row in judged])
    order = np.lexsort((-np.array([row["accuracy"] for row in judged]), excess))
    return candidates[int(order[0])]


class Parts:
    """Rows to fit on and rows to judge on, encoded once for all candidates."""

    def __init__(self, fitted: FairDataset, judged: FairDataset) -> None:
        self.raw = fitted, judged
        self.known: dict[str, tuple[FairDataset, FairDataset]] = {}

    def encoded(self, columns: str) -> tuple[FairDataset, FairDataset]:
        """Return both parts in these columns."""
        if columns not in self.known:
            encode = COLUMNS[columns](self.raw[0].X)
            fitted, judged = (replace(part, X=encode(part.X)) for part in self.raw)
            self.known[columns] = fitted, judged
        return self.known[columns]


def _ceiling(job: Job, limits: Limits) -> float:
    """Return the best accuracy within the goals of any rule of two forecasts, in-sample."""
    return fair_ceiling(
        _forecast_cells(job.case, job.max_rows),
        limits.max_dp or 0.0,
        limits.max_eo or 0.0,
        group_blind=not CEILINGS[job.contender],
    )


@lru_cache(maxsize=2)
def _forecast_cells(case: str, max_rows: int | None) -> pd.DataFrame:
    data = whole(case, "binned", max_rows)
    forest = HistGradientBoostingClassifier(max_leaf_nodes=15, random_state=0)
    forecasts = [
        cross_val_predict(forest, data.X.to_numpy(), target, cv=5, method="predict_proba")[:, 1]
        for target in (data.y, data.groups.codes)
    ]
    bins = [pd.qcut(each, _FORECAST_BINS, labels=False, duplicates="drop") for each in forecasts]
    return count_cells(replace(data, X=pd.DataFrame(np.column_stack(bins))))
