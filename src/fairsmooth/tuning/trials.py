"""What a search found: a table of trials, the Pareto front, the point that was asked for."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth.estimator import FairSmoothClassifier

# What is searched for, and whether more of it is better.
OBJECTIVES = {
    "accuracy": True,
    "demographic_parity": False,
    "equalized_odds_sum": False,
    "epsilon": False,
}


@dataclass(frozen=True)
class Limits:
    """What the user will accept; None is no limit."""

    max_dp: float | None = None
    max_eo: float | None = None
    max_epsilon: float | None = None

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        _validate.non_negative(**given)

    def violations(self, measured: Any) -> dict[str, float]:
        """Return by how much each limit is exceeded, relative to it; 0 or less is kept.

        Examples
        --------
        >>> Limits(max_dp=0.05).violations({"demographic_parity": 0.1})
        {'demographic_parity': 1.0}
        """
        limits = {
            "demographic_parity": self.max_dp,
            "equalized_odds_sum": self.max_eo,
            "epsilon": self.max_epsilon,
        }
        return {
            name: (measured[name] - limit) / max(limit, 1e-6)
            for name, limit in limits.items()
            if limit is not None
        }

    def excess(self, measured: Any) -> float:
        """Return the sum of what exceeds the limits; 0 if every limit is kept."""
        return float(sum(max(0.0, value) for value in self.violations(measured).values()))


@dataclass(frozen=True)
class Tuned:
    """The outcome of :func:`fairsmooth.tune`.

    Attributes
    ----------
    trials : DataFrame
        One row per finished trial: parameters, objectives on held-out rows,
        ``feasible``, ``pareto``, ``chosen``.
    parameters : dict
        Of the chosen trial.
    measured : dict
        The chosen trial's objectives, on rows held out from the training part.
    feasible : bool
        Whether the chosen trial keeps every limit on those rows. If none does, the
        one that exceeds them least is chosen.
    classifier : FairSmoothClassifier
        Fitted with the chosen parameters on all the training rows.
    """

    trials: pd.DataFrame
    parameters: dict[str, Any]
    measured: dict[str, float]
    feasible: bool
    classifier: FairSmoothClassifier


def pareto_front(measured: pd.DataFrame) -> NDArray[np.bool_]:
    """Mark the rows that no other row beats in one objective without losing in another.

    Examples
    --------
    >>> table = pd.DataFrame({"accuracy": [0.8, 0.9, 0.7], "epsilon": [0.1, 0.2, 0.3]})
    >>> pareto_front(table)
    array([ True,  True, False])
    """
    names = [name for name in OBJECTIVES if name in measured]
    costs = np.column_stack(
        [measured[name].to_numpy() * (-1.0 if OBJECTIVES[name] else 1.0) for name in names]
    )
    no_worse = (costs[:, None, :] <= costs[None, :, :]).all(axis=2)
    better = (costs[:, None, :] < costs[None, :, :]).any(axis=2)
    return np.asarray(~(no_worse & better).any(axis=0))


def choose(measured: pd.DataFrame, limits: Limits) -> tuple[int, bool]:
    """Return the position of the best row and whether it keeps the limits.

    The most accurate row that keeps every limit, and among equals one of the Pareto
    front; if none keeps them, the row whose relative violations have the least sum.
    """
    excess = np.array([limits.excess(row) for _, row in measured.iterrows()])
    feasible = excess == 0.0
    if not feasible.any():
        return int(np.argmin(excess)), False
    order = np.lexsort((~pareto_front(measured), -measured["accuracy"].to_numpy(), ~feasible))
    return int(order[0]), True
