"""A search on a table: trials on the training part, one audit of what was chosen."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fairsmooth.columns import Forecasts
from fairsmooth.data.roles import Roles
from fairsmooth.tables.fitting import Fitted, Parts
from fairsmooth.tuning import Limits, SearchSpace, Tuned, tune


@dataclass(frozen=True)
class Searched:
    """A search and the audit of the model it chose."""

    tuned: Tuned
    fitted: Fitted

    def summary(self) -> dict[str, Any]:
        """Return what the search decided and what was measured, as plain data."""
        return {
            **self.fitted.summary(),
            "parameters": self.tuned.parameters,
            "held_out": self.tuned.measured,
            "feasible": self.tuned.feasible,
            "trials": len(self.tuned.trials),
        }


def search_table(
    table: pd.DataFrame,
    roles: Roles,
    *,
    limits: Limits,
    space: SearchSpace,
    n_trials: int,
    n_jobs: int,
    storage: Path,
    test_size: float,
    seed: int,
    callback: Callable[[int], None],
    columns: str | Forecasts = "auto",
    strict: bool = False,
) -> Searched:
    """Search on the training part, then audit the chosen model on the test part, once."""
    began = time.perf_counter()
    parts = Parts.of(table, roles, columns=columns, test_size=test_size, seed=seed,
                     strict=strict)  # fmt: skip
    tuned = tune(
        parts.X,
        parts.y,
        sensitive_features=parts.sensitive,
        limits=limits,
        space=space,
        n_trials=n_trials,
        n_jobs=n_jobs,
        storage=storage,
        random_state=seed,
        callback=callback,
    )
    return Searched(tuned, parts.fitted(tuned.classifier, began))
