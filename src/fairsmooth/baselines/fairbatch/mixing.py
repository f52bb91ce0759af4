"""The rule FairBatch and FRS share: how much of each group goes into a batch.

``ratios[y, z]`` is the share of group ``z`` among the rows of label ``y`` in a
batch, each row of the table summing to 1. With two groups ``ratios[y, 1]`` is
the authors' lambda.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.baselines._kit.linear_adam import LinearAdam
from fairsmooth.training.batching import cyclic_batches

Integers = NDArray[np.integer[Any]]

NOTIONS = ("equalized_odds", "equal_opportunity", "demographic_parity")

# The authors write the probability as (tanh f + 1) / 2.
SLOPE = 2.0
_INITIAL_SPREAD = 0.2


def initial_weights(n_features: int, random: np.random.Generator) -> Floats:
    """Draw weights from N(0, 0.2²), as the authors do, and a bias of 0."""
    return np.append(random.normal(0.0, _INITIAL_SPREAD, n_features), 0.0)


def natural_ratios(counts: Floats) -> Floats:
    """Return the shares of the groups within each label as the data has them."""
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def cell_losses(
    model: LinearAdam, notion: str, cells: list[list[Integers]], *, extra: int = 0
) -> Floats:
    """Return the loss of every cell that the rule compares, shape ``(2, K)``.

    For demographic parity the loss is taken against label 1, summed over the
    cell and divided by the size of the *group*; otherwise it is the mean over
    the cell, with ``extra`` added to the count.
    """
    if notion == "demographic_parity":
        losses = model.losses_against_positive()
        sizes = [[len(zero) + len(one) for zero, one in zip(*cells, strict=True)]] * 2
    else:
        losses = model.losses()
        sizes = [[len(rows) + extra for rows in label] for label in cells]
    sums = [[losses[rows].sum() for rows in label] for label in cells]
    return np.array(sums) / np.maximum(np.array(sizes, dtype=np.float64), 1.0)


def step_ratios(ratios: Floats, losses: Floats, *, notion: str, alpha: float) -> Floats:
    r"""Move ``alpha`` between the two successive groups whose losses differ most.

    Groups are compared in their order, :math:`\max_z |L_{y,z} - L_{y,z+1}|`. The
    worst label is the one with the largest difference (label 1 alone for equal
    opportunity); of that pair of groups, the one of lower loss gives ``alpha``,
    or what it has, to the one of higher loss; for demographic parity at label 0,
    the other way round.
    """
    steps = np.diff(losses, axis=1)
    largest = np.abs(steps).max(axis=1)
    label = 1 if notion == "equal_opportunity" or largest[1] > largest[0] else 0
    first = int(np.abs(steps[label]).argmax())
    rises = steps[label, first] > 0
    if notion == "demographic_parity" and label == 0:
        rises = not rises
    gives, gains = (first, first + 1) if rises else (first + 1, first)
    moved = min(alpha, ratios[label, gives])
    stepped = ratios.copy()
    stepped[label, gives] -= moved
    stepped[label, gains] += moved
    return stepped


def batch_sizes(ratios: Floats, counts: Floats, *, notion: str, batch_size: int) -> Integers:
    """Return how many rows of every cell make a batch, shape ``(2, K)``.

    A label keeps its share of the batch; ``ratios`` divide that share among
    the groups. Equal opportunity leaves label 0 as the data has it.
    """
    natural = batch_size * counts / counts.sum()
    wanted = ratios * natural.sum(axis=1, keepdims=True)
    if notion == "equal_opportunity":
        wanted[0] = natural[0]
    return np.where(counts > 0, np.rint(wanted), 0).astype(np.int64)


def run_epoch(
    model: LinearAdam,
    cells: list[list[Integers]],
    sizes: Integers,
    *,
    n_batches: int,
    generator: torch.Generator,
) -> None:
    """Train one epoch on batches with ``sizes[y, z]`` rows of every cell."""
    rows = [torch.from_numpy(cell) for label in cells for cell in label]
    if sizes.sum() == 0:
        return
    batches = cyclic_batches(rows, sizes.ravel().tolist(), n_batches, generator=generator)
    for batch in batches.numpy():
        model.step(batch)


def cell_counts(cells: list[list[Integers]]) -> Floats:
    """Return the number of rows of every cell, shape ``(2, K)``."""
    return np.array([[len(rows) for rows in label] for label in cells], dtype=np.float64)
