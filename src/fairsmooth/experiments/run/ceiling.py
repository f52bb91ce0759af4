"""The most accurate rule of the encoded columns, whatever the method."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth.datasets import FairDataset
from fairsmooth.experiments.declaration import ROUNDING
from fairsmooth.experiments.run.data import whole
from fairsmooth.experiments.run.job import Job
from fairsmooth.training.decisions.program import solve_program


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
    """Return the best accuracy of a randomised rule of columns and group within both gaps.

    The chances of a positive decision solve the linear program of
    :func:`~fairsmooth.training.decisions.program.solve_program`. With ``group_blind`` cells of
    equal columns share one chance, whatever the group.
    """
    chances = pd.factorize(cells["x"])[0] if group_blind else np.arange(len(cells))
    group = cells["group"].to_numpy()
    masses = np.zeros((chances.max() + 1, group.max() + 1, 2))
    for label in (0, 1):
        np.add.at(masses[..., label], (chances, group), cells[label].to_numpy(np.float64))
    limits = {"demographic_parity": demographic_parity, "equalized_odds_sum": equalized_odds}
    return solve_program(masses, limits).accuracy
