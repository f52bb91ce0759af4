"""Minibatches that several ranks draw alike, and of which each goes over the rows it has."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from fairsmooth.core.objective import disparity
from fairsmooth.core.ranks import Ranks
from fairsmooth.training.problem import Batch, Problem, Terms


@dataclass(frozen=True, eq=False)
class SharedBatches:
    """Own rows and labels by group, and where they stand among those of all ranks.

    Attributes
    ----------
    X, y : sequences
        By group, those of this rank; the rows of a group are numbered from one rank to the next.
    before, sizes : lists of int
        Rows of each group on the ranks before, and on all.
    ranks : Ranks
    """

    X: Sequence[Any]
    y: Sequence[Tensor]
    before: list[int]
    sizes: list[int]
    ranks: Ranks

    @classmethod
    def of(cls, X: Sequence[Any], y: Sequence[Tensor], ranks: Ranks) -> "SharedBatches":
        """Ask the ranks how many rows of each group they have."""
        before, sizes = ranks.placed([len(rows) for rows in X])
        return cls(X, y, [*map(int, before)], [*map(int, sizes)], ranks)

    def evaluate(
        self, problem: Problem, parameters: Tensor, rows: Sequence[Tensor], *, seed: int
    ) -> tuple[Terms, Tensor]:
        """Return the terms of a batch and their gradient, both of all ranks together.

        ``rows`` are the numbers of the batch's rows, equally many of every group.
        """
        W = parameters.detach()
        losses, gradient = self._own(problem, W, rows, seed)
        own = torch.column_stack([losses, gradient]).cpu().double().numpy()
        together = torch.from_numpy(self.ranks.sum(own)).to(W)
        losses, gradient = together[:, 0], together[:, 1:].contiguous()
        # By the same operations as one process, whose rounding Adam would magnify: where a group
        # has no row with a feature in the batch, these two terms are all there is.
        point = W.clone().requires_grad_()
        tie = disparity(point)
        beside = problem.alpha * tie + problem.weight_decay * point.square().sum()
        (slope,) = torch.autograd.grad(beside, point)
        objective = problem.total(losses) + beside.detach()
        return Terms(objective, losses, tie.detach()), slope + gradient

    def _own(
        self, problem: Problem, W: Tensor, rows: Sequence[Tensor], seed: int
    ) -> tuple[Tensor, Tensor]:
        """Return what own rows add to the groups' mean losses, and to their gradient."""
        own = [
            torch.nonzero((chosen >= first) & (chosen < first + len(labels))).squeeze(-1)
            for chosen, first, labels in zip(rows, self.before, self.y, strict=True)
        ]
        width, size = max(map(len, own)), len(rows[0])
        if width == 0:
            return W.new_zeros(len(W)), torch.zeros_like(W)
        places = torch.zeros(len(own), width, dtype=torch.int64)
        X = W.new_zeros(len(own), width, self.X[0][:0].shape[-1])
        y, weights = W.new_zeros(len(own), width), W.new_zeros(len(own), width)
        for group, at in enumerate(own):
            if not len(at):
                continue
            numbers = rows[group][at] - self.before[group]
            places[group, : len(at)] = at
            X[group, : len(at)] = self.X[group][numbers]
            y[group, : len(at)] = self.y[group][numbers]
            # A mean over the whole batch, of which these rows are a part.
            weights[group, : len(at)] = width / size
        likelihood = problem.likelihood.at(places, size)
        alone = replace(problem, likelihood=likelihood, alpha=0.0, weight_decay=0.0)
        point = W.clone().requires_grad_()
        terms = alone.terms(point, Batch(likelihood.prepare(X), y, weights), seed=seed)
        (gradient,) = torch.autograd.grad(terms.objective, point)
        return terms.losses.detach(), gradient
