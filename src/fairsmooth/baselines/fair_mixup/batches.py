"""What one step of Fair Mixup looks at: rows with their weights, and pairs of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fairsmooth._types import Floats, Labels
from fairsmooth.baselines._kit.distinct_rows import few_distinct_rows
from fairsmooth.training.batching import draw_rows

Cells = list[list[Tensor]]


@dataclass(frozen=True)
class Batch:
    """Rows for the cross-entropy, and pairs of them for the penalty.

    Attributes
    ----------
    rows : Tensor of shape (R, d)
        The rows.
    weights, positives : Tensor of shape (R,)
        Weight of every row in the risk, and how much of it has label 1.
    start, end : Tensor of int of shape (M,)
        Numbers of the two rows of every pair.
    path : Tensor of int of shape (M,)
        Path that the pair belongs to: a label and a pair of groups.
    shares : Tensor of shape (M,)
        Weight of the pair in the mean over its path.
    """

    rows: Tensor
    weights: Tensor
    positives: Tensor
    start: Tensor
    end: Tensor
    path: Tensor
    shares: Tensor


@dataclass(frozen=True)
class Table:
    """Rows as tensors, each distinct one once where they are fewer than a batch.

    Attributes
    ----------
    rows : Tensor
        The rows, or the distinct ones.
    number : Tensor of int or None
        Which of the distinct ones every row is.
    """

    rows: Tensor
    number: Tensor | None

    @classmethod
    def of(cls, X: Floats, n_drawn: int, *, dtype: torch.dtype = torch.float32) -> "Table":
        """Prepare rows for batches of ``n_drawn``, computed with in ``dtype``."""
        distinct = few_distinct_rows(X, n_drawn)
        if distinct is None:
            return cls(torch.tensor(X, dtype=dtype), None)
        rows = torch.tensor(distinct.rows, dtype=dtype)
        return cls(rows, torch.from_numpy(distinct.number))

    def gap(self, network: torch.nn.Module, cells: Cells) -> float:
        """Return the gap of mean probabilities between groups, summed over blocks."""
        gap = 0.0
        with torch.no_grad():
            scores = None if self.number is None else torch.sigmoid(network(self.rows))
            for block in cells:
                means = [
                    torch.sigmoid(network(self.rows[own])).mean().item()
                    if scores is None or self.number is None
                    else scores[self.number[own]].mean().item()
                    for own in block
                    if len(own)
                ]
                gap += max(means, default=0.0) - min(means, default=0.0)
        return gap


class Batches:
    """Draws batches from cells of rows.

    From a table of distinct rows a batch has all of them, weighted by how often
    they were drawn, and pairs drawn twice are one pair of double weight: the
    same sums, added in another order.

    Parameters
    ----------
    table : Table
        The rows.
    y : ndarray of shape (n,)
        Labels 0 and 1.
    cells : list of lists of Tensor
        Rows to draw from, ``cells[block][group]``.
    size : int
        Rows per cell.
    shares : Tensor of shape (blocks, groups)
        Weights of the cells in the risk, up to a factor.
    """

    def __init__(self, table: Table, y: Labels, cells: Cells, size: int, shares: Tensor) -> None:
        self._table = table
        self._labels = torch.tensor(y, dtype=table.rows.dtype)
        self._cells = cells
        self._size = size
        weights = shares.to(table.rows.dtype) / (size * shares.sum())
        self._weights = weights.view(-1).repeat_interleave(size)
        # Filled anew by every batch: fresh memory costs more than the rows.
        self._gathered = table.rows.new_empty(len(self._weights), table.rows.shape[1])

    def draw(self, generator: torch.Generator) -> Tensor:
        """Draw the rows of a batch, shape ``(blocks, groups, size)``."""
        drawn = [
            [draw_rows(own, self._size, generator=generator) for own in block]
            for block in self._cells
        ]
        return torch.stack([torch.stack(block) for block in drawn])

    def compose(self, drawn: Tensor, pairs: Sequence[tuple[int, int]]) -> Batch:
        """Pair the rows drawn, in their order, for the given pairs of groups.

        The batch stands until the next one is composed.
        """
        chosen = drawn.view(-1)
        weights, positives = self._weights, self._weights * self._labels[chosen]
        if self._table.number is None:
            rows = torch.index_select(self._table.rows, 0, chosen, out=self._gathered)
            numbers = torch.arange(len(chosen))
        else:
            rows, numbers = self._table.rows, self._table.number[chosen]
            weights, positives = (
                torch.zeros_like(rows[:, 0]).index_add_(0, numbers, each)
                for each in (weights, positives)
            )
        by_group = numbers.view(drawn.shape)
        start, end = (by_group[:, list(side)] for side in zip(*pairs, strict=True))
        return Batch(rows, weights, positives, *self._pairs(start, end, len(rows)))

    def _pairs(self, start: Tensor, end: Tensor, n_rows: int) -> tuple[Tensor, ...]:
        n_paths = start.shape[0] * start.shape[1]
        path = torch.arange(n_paths).repeat_interleave(self._size)
        start, end = start.reshape(-1), end.reshape(-1)
        if self._table.number is None:
            return start, end, path, self._weights.new_full((len(path),), 1 / self._size)
        keys, counts = torch.unique((path * n_rows + start) * n_rows + end, return_counts=True)
        rest, end = keys // n_rows, keys % n_rows
        return rest % n_rows, end, rest // n_rows, counts.to(self._weights.dtype) / self._size
