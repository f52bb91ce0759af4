"""Other mixes of the same rows: a group's share, partitions of a test set."""

from collections.abc import Hashable

import numpy as np

from fairsmooth._random import numpy_generator
from fairsmooth.data.splits import Rows, random_rows
from fairsmooth.datasets._base import FairDataset
from fairsmooth.exceptions import InputError


def with_group_ratio(
    dataset: FairDataset, group: Hashable, ratio: float, random_state: int = 0
) -> FairDataset:
    """Drop rows at random until a group makes up a given share of all rows.

    Rows of the group are dropped to lower its share, rows of all others to
    raise it; nothing is duplicated and the encoding stays. With one seed, the
    rows kept for a share further from the present one are among those kept for
    a nearer one, so that a sweep changes as little as it can.

    Parameters
    ----------
    dataset : FairDataset
        Usually a training part.
    group : label
        One of ``dataset.groups.labels``.
    ratio : float
        Share of the group afterwards, exact up to one row.
    random_state : int
        Seed.

    References
    ----------
    Figure 2: "we randomly reduce the number of Female (or African-American)
    training samples for decreasing the ratio or reduce the number of Male (or
    Other) training samples for increasing the ratio".

    Examples
    --------
    >>> from fairsmooth.datasets import load_compas
    >>> part = with_group_ratio(load_compas(sensitive="sex"), "Female", 0.5)
    >>> part.groups.counts
    array([1175, 1175])
    """
    _open_interval(ratio=ratio)
    groups = dataset.groups
    if group not in groups.labels:
        raise InputError(f"Expected group to be one of {list(groups.labels)}, got {group!r}.")
    inside = groups.codes == groups.labels.index(group)
    n_inside, n_outside = int(inside.sum()), int((~inside).sum())
    keep_inside = min(n_inside, round(n_outside * ratio / (1.0 - ratio)))
    keep_outside = min(n_outside, round(n_inside * (1.0 - ratio) / ratio))
    if not (keep_inside and keep_outside):
        raise InputError(
            f"Expected a ratio that leaves rows in and outside group {group!r} "
            f"({n_inside} of {len(dataset)} rows), got ratio={ratio!r}."
        )
    random = numpy_generator(random_state, "group ratio", dataset.name)
    order = random.permutation(len(dataset))
    kept = [order[inside[order]][:keep_inside], order[~inside[order]][:keep_outside]]
    return dataset.take(np.sort(np.concatenate(kept)))


def random_partition(dataset: FairDataset, fraction: float, random_state: int = 0) -> FairDataset:
    """Take the rows that :func:`partition_rows` draws.

    Examples
    --------
    >>> from fairsmooth.datasets import load_compas
    >>> len(random_partition(load_compas(), 0.05))
    309
    """
    return dataset.take(partition_rows(dataset, fraction, random_state))


def partition_rows(dataset: FairDataset, fraction: float, random_state: int = 0) -> Rows:
    """Draw a share of the rows at random, without replacement; return their numbers.

    Each fraction has a stream of its own, so partitions of one test set
    overlap, as in the paper, and none depends on which others are drawn.

    Parameters
    ----------
    dataset : FairDataset
        Usually a test part.
    fraction : float
        Share of the rows, between 0 (excluded) and 1.
    random_state : int
        Seed.

    References
    ----------
    Figure 1: partitions of 5, 10, 15, 30 and 40 % of the test data, "we allow
    the same samples to occur in multiple partitions".
    """
    if not 0 < fraction <= 1:
        raise InputError(f"Expected 0 < fraction <= 1, got fraction={fraction!r}.")
    size = max(1, round(fraction * len(dataset)))
    random = numpy_generator(random_state, "partition", dataset.name, float(fraction))
    return random_rows(len(dataset), size, permute=random.permutation)


def _open_interval(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < 1:
            raise InputError(f"Expected 0 < {name} < 1, got {name}={value!r}.")
