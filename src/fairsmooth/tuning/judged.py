"""What is known of a trial: counts of decisions on rows that no model of it had seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats, Labels
from fairsmooth.data.groups import Groups
from fairsmooth.metrics.gap_intervals import RateFamily, gap_interval
from fairsmooth.metrics.intervals import binomial_bounds, binomial_interval
from fairsmooth.metrics.rates import cell_sums, gaps_of, rates_of

# What is searched for, and whether more of it is better.
OBJECTIVES = {
    "accuracy": True,
    "demographic_parity": False,
    "equalized_odds_sum": False,
    "epsilon": False,
}
CONFIDENCE = 0.95

Counts = NDArray[np.int64]
Interval = tuple[float, float]


@dataclass(frozen=True, eq=False)
class FoldCounts:
    """Decisions on one fold by a model trained on the others.

    Attributes
    ----------
    rows, hits : ndarray of int, shape (K, 2)
        Rows, and positive decisions, by group and label.
    epsilon : float or None
        The model's certified bound, the paper's; None for models without one.
    """

    rows: Counts
    hits: Counts
    epsilon: float | None

    @classmethod
    def of(
        cls, decided: NDArray[Any], y: Labels, groups: Groups, epsilon: float | None
    ) -> "FoldCounts":
        """Count decisions that are 0 or 1."""
        rows, hits = cell_sums(decided, y, groups)
        return cls(rows.astype(np.int64), hits.astype(np.int64), epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {"rows": self.rows.tolist(), "hits": self.hits.tolist(), "epsilon": self.epsilon}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "FoldCounts":
        """Rebuild counts, trusting nothing; raises ValueError, KeyError or TypeError."""
        rows, hits = (_counts(plain[name]) for name in ("rows", "hits"))
        epsilon = plain["epsilon"]
        if rows.shape != hits.shape or (hits > rows).any() or not rows.sum():
            raise ValueError("counts that do not fit")
        if epsilon is not None and not (np.isfinite(float(epsilon)) and epsilon >= 0.0):
            raise ValueError("no bound")
        return cls(rows, hits, None if epsilon is None else float(epsilon))


@dataclass(frozen=True, eq=False)
class Judged:
    """A trial's folds, pooled: every row is decided once, by a model that had not seen it."""

    folds: tuple[FoldCounts, ...]

    @cached_property
    def rows(self) -> Counts:
        """Rows by group and label, shape (K, 2)."""
        return np.sum([fold.rows for fold in self.folds], axis=0)

    @cached_property
    def hits(self) -> Counts:
        """Positive decisions by group and label, shape (K, 2)."""
        return np.sum([fold.hits for fold in self.folds], axis=0)

    @cached_property
    def correct(self) -> int:
        """Rows that were decided as they are labelled."""
        return int(self.rows[:, 0].sum() - self.hits[:, 0].sum() + self.hits[:, 1].sum())

    @cached_property
    def measured(self) -> dict[str, float]:
        """Return the objectives; epsilon is the largest of the folds', if they have one."""
        gaps = gaps_of(self._rates)
        bounds = [fold.epsilon for fold in self.folds if fold.epsilon is not None]
        return {
            "accuracy": self.correct / int(self.rows.sum()),
            "demographic_parity": float(gaps["demographic_parity"]),
            "equalized_odds_sum": float(gaps["equalized_odds_sum"]),
            **({"epsilon": max(bounds)} if bounds else {}),
        }

    @property
    def accuracy_error(self) -> float:
        """Standard error of the accuracy."""
        share = self.measured["accuracy"]
        return float(np.sqrt(max(share * (1.0 - share), 0.25 / self.rows.sum()) / self.rows.sum()))

    def intervals(self, confidence: float = CONFIDENCE) -> dict[str, Interval]:
        """Return intervals of accuracy and gaps, each by itself at the confidence."""
        error = (1.0 - confidence) / 2.0
        low, high = binomial_interval(self.correct, int(self.rows.sum()), error=error)
        selected, positive, negative = (
            self._family(name, rows, hits)
            for name, rows, hits in (
                ("selection_rate", self.rows.sum(axis=1), self.hits.sum(axis=1)),
                ("true_positive_rate", self.rows[:, 1], self.hits[:, 1]),
                ("false_positive_rate", self.rows[:, 0], self.hits[:, 0]),
            )
        )
        return {
            "accuracy": (float(low), float(high)),
            "demographic_parity": gap_interval(selected, confidence=confidence),
            "equalized_odds_sum": gap_interval(positive, negative, confidence=confidence),
        }

    def first(self, n_folds: int) -> "Judged":
        """Return what was known after some folds."""
        return Judged(self.folds[:n_folds])

    @cached_property
    def _rates(self) -> dict[str, Floats]:
        return rates_of(self.rows.astype(np.float64), self.hits.astype(np.float64))

    def _family(self, name: str, rows: Counts, hits: Counts) -> RateFamily:
        return RateFamily(self._rates[name][:-1], binomial_bounds(hits, rows))


def pareto_front(measured: Any, names: Sequence[str] = tuple(OBJECTIVES)) -> NDArray[np.bool_]:
    """Mark the rows that no other row beats in one objective without losing in another.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"accuracy": [0.8, 0.9, 0.7], "epsilon": [0.1, 0.2, 0.3]})
    >>> pareto_front(table)
    array([ True,  True, False])
    """
    costs = np.column_stack(
        [np.asarray(measured[n]) * (-1.0 if OBJECTIVES[n] else 1.0) for n in names if n in measured]
    )
    no_worse = (costs[:, None, :] <= costs[None, :, :]).all(axis=2)
    better = (costs[:, None, :] < costs[None, :, :]).any(axis=2)
    return np.asarray(~(no_worse & better).any(axis=0))


def _counts(plain: Any) -> Counts:
    counts = np.asarray(plain)
    if counts.ndim != 2 or counts.shape[1] != 2 or counts.dtype.kind != "i" or (counts < 0).any():
        raise ValueError("no counts by group and label")
    return counts.astype(np.int64)
