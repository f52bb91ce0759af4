"""The most accurate rule of the encoded columns, whatever the method."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog

from fairsmooth._types import Floats
from fairsmooth.datasets import FairDataset
from fairsmooth.experiments.declaration import ROUNDING
from fairsmooth.experiments.run.data import whole
from fairsmooth.experiments.run.job import Job


def ceilings(job: Job, _: Mapping[str, Any], method: None = None) -> dict[str, Any]:
    """Return the ceiling of accuracy on all rows, free and at the gaps that were printed."""
    dataset = whole(job.case, job.encoding, job.max_rows)
    cells = count_cells(dataset)
    limits = dict(job.extra)
    gap_limits = (limits["demographic_parity"] + ROUNDING, limits["equalized_odds_sum"] + ROUNDING)
    positive = float(dataset.y.mean())
    return {
        "measured": {
            "rows": len(dataset),
            "columns": dataset.X.shape[1],
            "cells": len(cells),
            "majority": max(positive, 1.0 - positive),
            "ceiling": accuracy_ceiling(cells),
            "fair_ceiling": fair_ceiling(cells, *gap_limits),
        }
    }


def count_cells(dataset: FairDataset) -> pd.DataFrame:
    """Count the rows of every cell: equal columns, group and label; negatives, then positives."""
    patterns = pd.util.hash_pandas_object(dataset.X, index=False)
    table = pd.DataFrame({"x": patterns, "group": dataset.groups.codes, "y": dataset.y})
    counts = table.groupby(["x", "group", "y"]).size().unstack("y", fill_value=0)
    return counts.reindex(columns=[0, 1], fill_value=0).reset_index()


def accuracy_ceiling(cells: pd.DataFrame) -> float:
    """Return the accuracy of the best function of the columns: every cell its majority.

    It is measured on the rows it is made from, so nothing does better there, and
    with many columns it says little: nearly every row is a cell of its own.
    """
    joined = cells.groupby("x")[[0, 1]].sum()
    return float(joined.max(axis=1).sum() / joined.to_numpy().sum())


def fair_ceiling(
    cells: pd.DataFrame,
    demographic_parity: float,
    equalized_odds: float,
    *,
    group_blind: bool = False,
) -> float:
    r"""Return the best accuracy of a randomised rule of columns and group within both gaps.

    A linear program: with :math:`q_c` the chance of a positive decision in cell
    ``c``, maximise accuracy subject to :math:`|\Delta_{DP}| \le` the first limit and
    :math:`|\Delta_{TPR}| + |\Delta_{FPR}| \le` the second, for two groups. With
    ``group_blind`` cells of equal columns share one chance, whatever the group.
    """
    negatives, positives = (cells[label].to_numpy(np.float64) for label in (0, 1))
    group = cells["group"].to_numpy()
    total = negatives.sum() + positives.sum()
    chances = pd.factorize(cells["x"])[0] if group_blind else np.arange(len(cells))

    def by_chance(values: Floats) -> Floats:
        return np.bincount(chances, weights=values).astype(np.float64)

    parts = (negatives + positives, positives, negatives)
    selection, true_positive, false_positive = (by_chance(_gap_row(p, group)) for p in parts)
    n_chances = len(selection)
    # Two more variables bound the gaps of both rates from above.
    rows = [
        *(np.r_[sign * selection, 0.0, 0.0] for sign in (1.0, -1.0)),
        *(np.r_[sign * true_positive, -1.0, 0.0] for sign in (1.0, -1.0)),
        *(np.r_[sign * false_positive, 0.0, -1.0] for sign in (1.0, -1.0)),
        np.r_[np.zeros(n_chances), 1.0, 1.0],
    ]
    limits = [demographic_parity] * 2 + [0.0] * 4 + [equalized_odds]
    gain = np.r_[by_chance((positives - negatives) / total), 0.0, 0.0]
    bounds = [(0.0, 1.0)] * (n_chances + 2)
    solved = linprog(-gain, A_ub=np.array(rows), b_ub=limits, bounds=bounds, method="highs")
    return float(negatives.sum() / total - solved.fun)


def _gap_row(counts: Floats, group: NDArray[Any]) -> Floats:
    share = [np.where(group == code, counts, 0.0) for code in (0, 1)]
    difference: Floats = share[0] / share[0].sum() - share[1] / share[1].sum()
    return difference
