"""The rule by which every method of the trade-off chooses: inside the training part, alike.

A gap measured on few rows is larger than the gap there is: its noise does not cancel under
the absolute value. So a candidate is judged by the gaps that a part as large as the test part is
*expected* to show, given the pooled decisions on the rows left out of folds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import foldnorm
from sklearn.model_selection import StratifiedKFold

from fairsmooth._types import Floats
from fairsmooth.datasets import FairDataset
from fairsmooth.experiments.claims.estimate import TEST_SIZE
from fairsmooth.experiments.run.tradeoff_candidates import Candidate
from fairsmooth.metrics.rates import group_rates_of, measure
from fairsmooth.tuning import SearchLimits

# Folds of the training part: fewer where there are rows enough.
FEW_ROWS, FOLDS_OF_FEW, FOLDS = 10_000, 3, 2
# Rows of the training part for every row of the test part.
RATIO = (1.0 - TEST_SIZE) / TEST_SIZE


def pooled(candidate: Candidate, train: FairDataset, seed: int) -> NDArray[Any]:
    """Return the decision on every row by a fit that did not see it."""
    decided = np.empty_like(train.y)
    cells = 2 * train.groups.codes + train.y
    n_folds = FOLDS_OF_FEW if len(train) < FEW_ROWS else FOLDS
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    for kept, left in folds.split(cells, cells):
        decide, _ = candidate.fit(train.take(kept), seed)
        decided[left] = decide(train.take(left))
    return decided


def judged(decisions: NDArray[Any], train: FairDataset) -> dict[str, float]:
    """Return the accuracy of pooled decisions and the gaps to expect on a test part."""
    groups = train.groups
    rates = group_rates_of(decisions, train.y, groups)
    in_cells = np.bincount(2 * groups.codes + train.y, minlength=4).reshape(2, 2)
    gap = {
        name: expected_gap(rates[name][:2], rows)
        for name, rows in (
            ("selection_rate", in_cells.sum(axis=1)),
            ("true_positive_rate", in_cells[:, 1]),
            ("false_positive_rate", in_cells[:, 0]),
        )
    }
    return {
        "accuracy": measure(decisions, train.y, groups)["accuracy"],
        "demographic_parity": gap["selection_rate"],
        "equalized_odds_sum": gap["true_positive_rate"] + gap["false_positive_rate"],
    }


def expected_gap(rates: Floats, rows: NDArray[Any]) -> float:
    """Return the mean of the absolute gap of two rates that a test part will show.

    Both the rates here and those there vary by chance: the difference is taken as normal,
    with the variance of both together, and its absolute value is folded.

    Examples
    --------
    >>> round(expected_gap(np.array([0.5, 0.5]), np.array([700, 700])), 3)
    0.039
    >>> round(expected_gap(np.array([0.9, 0.1]), np.array([700, 700])), 3)
    0.8
    """
    variance = float((rates * (1.0 - rates) / rows).sum() * (1.0 + RATIO))
    gap = float(abs(rates[0] - rates[1]))
    if variance == 0.0:
        return gap
    scale = variance**0.5
    return float(foldnorm.mean(gap / scale, scale=scale))


def choose(measured: Sequence[Mapping[str, float]], limits: SearchLimits) -> int:
    """Return the position of the most accurate within the limits, or of the one exceeding least."""
    excess = [limits.excess(row) for row in measured]
    accuracy = [-row["accuracy"] for row in measured]
    return int(np.lexsort((accuracy, excess))[0])
