"""Rows sorted by group, with labels and weights: what a full-batch solver goes over."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats, Labels
from fairsmooth.core.rows import DenseRows, Rows
from fairsmooth.core.rows.rows import Index


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
    """

    rows: Rows
    groups: Index
    labels: NDArray[np.int8]
    weights: Floats | None
    n_groups: int

    @classmethod
    def of(
        cls,
        X: Floats | Rows,
        y: Labels,
        by_group: Sequence[NDArray[np.intp]],
        weights: Floats | None = None,
    ) -> "GroupedRows":
        """Take the rows of each group, one group after another."""
        order = np.concatenate(by_group)
        rows = X if isinstance(X, Rows) else DenseRows(np.asarray(X, dtype=np.float64))
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
    def totals(self) -> Floats:
        """Sum of the weights by group."""
        return np.bincount(self.groups, weights=self.weights, minlength=self.n_groups).astype(
            np.float64
        )

    @cached_property
    def ends(self) -> list[int]:
        """Where each group ends."""
        return np.searchsorted(self.groups, np.arange(self.n_groups), side="right").tolist()

    def sample(self, count: int) -> "GroupedRows":
        """Return about ``count`` rows, evenly spaced within every group, at least 2 of each.

        Every group keeps its share of what it has beyond that; all rows if they are few.
        """
        if len(self) <= count:
            return self
        sizes = np.diff(self.ends, prepend=0)
        wanted = np.minimum(sizes, np.maximum(2, count * sizes // len(self)))
        starts = np.asarray(self.ends) - sizes
        chosen = np.concatenate(
            [
                start + (np.arange(take) * size) // max(take, 1)
                for start, take, size in zip(starts, wanted, sizes, strict=True)
            ]
        )
        return GroupedRows(
            self.rows.take(chosen),
            self.groups[chosen],
            self.labels[chosen],
            None if self.weights is None else self.weights[chosen],
            self.n_groups,
        )
