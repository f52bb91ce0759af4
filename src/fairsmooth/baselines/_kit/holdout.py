"""Rows set aside during training, so that an epoch can be chosen without test data."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairsmooth.data.groups import Groups
from fairsmooth.training.batching import rows_by_cell


def hold_out(
    y: NDArray[np.integer[Any]], groups: Groups, fraction: float, *, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Split rows into those to train on and those to validate on, cell by cell.

    Every (label, group) cell gives the same fraction of its rows, rounded
    down, and keeps at least one to train on.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels 0 and 1.
    groups : Groups
        Group of every row.
    fraction : float
        Share of each cell to set aside, at least 0 and below 1.
    generator : torch.Generator
        Where the choice comes from.

    Returns
    -------
    training, held_out : int64 tensors
        Row numbers in increasing order; together they are all rows.

    Examples
    --------
    >>> groups = Groups(("a", "b"), np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    >>> y = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    >>> training, held = hold_out(y, groups, 0.5, generator=torch.Generator().manual_seed(0))
    >>> len(training), len(held)
    (4, 4)
    """
    training, held = [], []
    for rows in (cell for cells in rows_by_cell(y, groups) for cell in cells):
        shuffled = rows[torch.randperm(len(rows), generator=generator)]
        count = int(fraction * len(rows))
        held.append(shuffled[:count])
        training.append(shuffled[count:])
    return torch.cat(training).sort().values, torch.cat(held).sort().values
