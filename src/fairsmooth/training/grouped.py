"""Rows sorted by group, with labels and weights: what a full-batch solver goes over."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats, Labels
from fairsmooth.core.rows import CodedRows, DenseRows, Rows
from fairsmooth.core.rows.rows import Choice, Index


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Rows in the order of their groups.

    Attributes
    ----------
    rows : Rows
        In any form.
    groups : ndarray of int
        Group of every row, never decreasing.
    labels : ndarray of int8
        0 or 1.
    weights : ndarray or None
        Weight of every row; 1 if None.
    n_groups : int
        Number of groups, some of which may have no rows here.
    part : Part or None
        What these rows are a part of; None if they are all rows.
    """

    rows: Rows
    groups: Index
    labels: NDArray[np.int8]
    weights: Floats | None
    n_groups: int
    part: "Part | None" = None

    @classmethod
    def of(
        cls,
        X: Floats | Rows,
        y: Labels,
        by_group: Sequence[NDArray[np.intp]],
        weights: Floats | None = None,
    ) -> "GroupedRows":
        """Take the rows of each group, one group after another.

        Rows that are in that order already are not copied: they may be mapped from a file.
        """
        wanted = np.concatenate(by_group)
        in_order = len(wanted) == len(X) and np.array_equal(wanted, np.arange(len(X)))
        order: Choice = slice(None) if in_order else wanted
        rows = X if isinstance(X, Rows) else DenseRows(np.asarray(X, dtype=np.float64))
        rows = rows.packed() if isinstance(rows, CodedRows) else rows
        kind = np.min_scalar_type(max(len(by_group) - 1, 1))
        groups = np.repeat(np.arange(len(by_group), dtype=kind), [len(r) for r in by_group])
        return cls(
            rows.take(order),
            groups,
            y[order].astype(np.int8),
            None if weights is None else weights[order],
            len(by_group),
        )

    def __len__(self) -> int:
        return len(self.groups)

    @cached_property
    def own_totals(self) -> Floats:
        """Sum of the weights of these rows by group."""
        return np.bincount(self.groups, weights=self.weights, minlength=self.n_groups).astype(
            np.float64
        )

    @property
    def totals(self) -> Floats:
        """Sum of the weights by group, over all parts."""
        return self.own_totals if self.part is None else self.part.totals

    @cached_property
    def sizes(self) -> Index:
        """Number of these rows by group."""
        return np.diff(self.ends, prepend=0)

    @cached_property
    def ends(self) -> list[int]:
        """Where each group ends."""
        return np.searchsorted(self.groups, np.arange(self.n_groups), side="right").tolist()

    def of_groups(self, chosen: Index) -> "GroupedRows":
        """Return the rows of some groups, in increasing order, numbered anew."""
        numbers = np.full(self.n_groups, -1)
        numbers[chosen] = np.arange(len(chosen))
        groups = numbers[self.groups]
        rows = np.flatnonzero(groups >= 0)
        part = self.part
        return GroupedRows(
            self.rows.take(rows),
            groups[rows].astype(self.groups.dtype),
            self.labels[rows],
            None if self.weights is None else self.weights[rows],
            len(chosen),
            part and Part(part.first[chosen], part.sizes[chosen], part.totals[chosen]),
        )

    def sample(self, count: int) -> "GroupedRows":
        """Return about ``count`` rows, evenly spaced within every group, at least 2 of each.

        Every group keeps its share of what it has beyond that; all rows if they are few. Of a
        part, those of the sample of all parts that are in it.
        """
        part = self.part or Part(np.zeros_like(self.sizes), self.sizes, self.totals)
        if part.sizes.sum() <= count:
            return self
        starts = np.asarray(self.ends) - self.sizes
        chosen = np.concatenate(
            [
                start + places[(places >= first) & (places < first + own)] - first
                for start, own, first, places in zip(
                    starts, self.sizes, part.first, evenly(part.sizes, count), strict=True
                )
            ]
        )
        some = GroupedRows(
            self.rows.take(chosen),
            self.groups[chosen],
            self.labels[chosen],
            None if self.weights is None else self.weights[chosen],
            self.n_groups,
        )
        # Means are over the sample, of all parts: its totals are known where there is one part.
        return some if self.part is None else replace(some, part=part.sampled(count))


@dataclass(frozen=True, eq=False)
class Part:
    """Where some rows stand among all rows, which several parts hold together.

    Attributes
    ----------
    first : ndarray of int, shape (K,)
        Of each group, how many rows are in the parts before.
    sizes : ndarray of int, shape (K,)
        Rows of each group in all parts.
    totals : ndarray of shape (K,)
        Sums of their weights.
    """

    first: Index
    sizes: Index
    totals: Floats

    def sampled(self, count: int) -> "Part":
        """Return what a sample of unweighted rows is a part of."""
        places = evenly(self.sizes, count)
        kept = np.array([len(each) for each in places])
        before = [int((of < first).sum()) for of, first in zip(places, self.first, strict=True)]
        return Part(np.array(before), kept, kept.astype(np.float64))


def evenly(sizes: Index, count: int) -> list[Index]:
    """Return places in groups of these sizes: about ``count``, evenly spaced, 2 of each at least.

    Examples
    --------
    >>> [places.tolist() for places in evenly(np.array([6, 2]), 4)]
    [[0, 2, 4], [0, 1]]
    """
    wanted = np.minimum(sizes, np.maximum(2, count * sizes // sizes.sum()))
    return [(np.arange(n) * size) // max(n, 1) for n, size in zip(wanted, sizes, strict=True)]
