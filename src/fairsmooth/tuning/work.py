"""One trial: train on one part of the rows, measure on another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth._random import numpy_generator
from fairsmooth._types import Floats
from fairsmooth.data.groups import encode_groups
from fairsmooth.data.splits import hold_out
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.metrics import accuracy, demographic_parity_gap, equalized_odds_gap

# The first rung trains on this share of the rows; what is hopeless there goes no further.
_FIRST_RUNG = 0.2
# A trial is hopeless if another is this much better in accuracy and no worse in the rest.
_PRUNING_MARGIN = 0.03
# Held out, learned from, and enough of either left for a first rung.
_LEAST_ROWS_OF_A_CELL = 4

Measured = Mapping[str, float]


@dataclass(frozen=True)
class Work:
    """The rows, cut into the part that trials learn from and the part that judges them."""

    X: Floats
    y: NDArray[Any]
    groups: NDArray[np.intp]
    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    first_rung: NDArray[np.intp]

    @classmethod
    def of(cls, X: Any, y: Any, sensitive: Any, validation_size: float, seed: int) -> "Work":
        """Cut the rows, by group and label."""
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        encoded = encode_groups(sensitive, n_rows=len(y))
        cells = pd.factorize(y)[0] * len(encoded.labels) + encoded.codes
        smallest = int(np.bincount(cells)[np.unique(cells)].min())
        if smallest < _LEAST_ROWS_OF_A_CELL:
            raise InputError(
                f"Expected at least {_LEAST_ROWS_OF_A_CELL} rows of every label in every group to "
                f"hold some out, got {smallest}. Merge small groups."
            )
        permute = numpy_generator(seed, "split", "validation").permutation
        train, validation = hold_out(cells, validation_size, permute=permute)
        permute = numpy_generator(seed, "split", "first rung").permutation
        rest, rung = hold_out(cells[train], _FIRST_RUNG, permute=permute)
        # A cell too small to give a fifth gives one row: a rung needs every cell.
        missing = np.setdiff1d(cells[train], cells[train][rung])
        extra = [rest[np.flatnonzero(cells[train][rest] == cell)[0]] for cell in missing]
        rung = np.sort(np.concatenate([rung, np.array(extra, dtype=np.intp)]))
        return cls(X, y, encoded.codes, train, validation, train[rung])

    def measure(
        self, parameters: Mapping[str, Any], others: Sequence[Measured], *, seed: int
    ) -> Measured | None:
        """Return the objectives of a trial, or None where another trial is far better."""
        if _hopeless(self._measure(parameters, self.first_rung, seed), others):
            return None
        return self._measure(parameters, self.train, seed)

    def _measure(
        self, parameters: Mapping[str, Any], rows: NDArray[np.intp], seed: int
    ) -> dict[str, float]:
        classifier = FairSmoothClassifier(**parameters, free_reference=False, random_state=seed)
        classifier.fit(self.X[rows], self.y[rows], sensitive_features=self.groups[rows])
        decided = classifier.predict(self.X[self.validation])
        truth, groups = self.y[self.validation], self.groups[self.validation]
        positive = classifier.classes_[1]
        hits, calls = truth == positive, decided == positive
        return {
            "accuracy": accuracy(hits, calls),
            "demographic_parity": demographic_parity_gap(hits, calls, sensitive_features=groups),
            "equalized_odds_sum": equalized_odds_gap(
                hits, calls, sensitive_features=groups, kind="sum"
            ),
            "epsilon": classifier.certificate_.epsilon,
        }


def _hopeless(first: Measured, others: Sequence[Measured]) -> bool:
    """Whether a finished trial is better by a margin that more rows would not make up."""
    costs = [name for name in first if name != "accuracy"]
    return any(
        other["accuracy"] >= first["accuracy"] + _PRUNING_MARGIN
        and all(first[name] >= other[name] for name in costs)
        for other in others
    )
