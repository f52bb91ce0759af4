"""The training problem: every group's loss, the tie between them, and the extensions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from fairsmooth.core.objective import disparity
from fairsmooth.training.likelihood import Likelihood
from fairsmooth.training.overall import overall_parameters
from fairsmooth.training.parity import BANDWIDTH, narrowing, parity_penalty

GROUP_WEIGHTS = ("equal", "share")


@dataclass(frozen=True)
class Batch:
    """Prepared rows and labels by group.

    Either *ragged*, one entry per group, or *stacked*, one tensor with the
    group as its first dimension, so that all groups are one computation. ``weights``
    are in the form of the labels, with mean 1 in every group; all are 1 if None.
    """

    rows: Any
    labels: Sequence[Tensor] | Tensor
    weights: Sequence[Tensor] | Tensor | None = None

    @property
    def stacked(self) -> bool:
        """Whether all groups share one tensor."""
        return isinstance(self.labels, Tensor)


@dataclass(frozen=True)
class Terms:
    """The objective at one point, taken apart."""

    objective: Tensor
    losses: Tensor
    disparity: Tensor

    def detached(self) -> "Terms":
        """Return the numbers without the graph that they came from."""
        return Terms(self.objective.detach(), self.losses.detach(), self.disparity.detach())

    @classmethod
    def mean(cls, several: Sequence["Terms"]) -> "Terms":
        """Average the terms of several steps."""
        return cls(
            torch.stack([terms.objective for terms in several]).mean(),
            torch.stack([terms.losses for terms in several]).mean(0),
            torch.stack([terms.disparity for terms in several]).mean(),
        )


@dataclass(frozen=True)
class Problem:
    r"""The objective of Eq. (15), with weight decay and the optional parity term.

    .. math:: \sum_k u_k L_k(W_k) + \alpha \sum_{k<l} \lVert W_k - W_l\rVert^2
              + \lambda \sum_k \lVert W_k\rVert^2 + \gamma\, \text{gap}(W^*)

    Attributes
    ----------
    likelihood : Likelihood
        How the smooth score is computed.
    alpha : float
        Weight of the tie.
    weight_decay : float
        :math:`\lambda`; makes groups with separable data converge.
    group_weights : tuple of float, optional
        :math:`u_k`; 1 for every group if None, as in the paper.
    parity, parity_weight, parity_tolerance, parity_bandwidth, threshold
        The extension of :mod:`fairsmooth.training.parity`, on the overall classifier.
    center : {"mean", "ball"}
        What the overall classifier's parameters are.
    """

    likelihood: Likelihood
    alpha: float
    weight_decay: float
    group_weights: tuple[float, ...] | None = None
    parity: str | None = None
    parity_weight: float = 0.0
    parity_tolerance: tuple[float, float] = (0.0, 0.0)
    parity_bandwidth: float = BANDWIDTH
    threshold: float = 0.5
    center: str = "mean"

    @property
    def has_parity(self) -> bool:
        """Whether the parity term takes part."""
        return self.parity is not None and self.parity_weight > 0.0

    def stages(self) -> tuple["Problem", ...]:
        """Return the problems to solve one after the other, each from where the last one ended."""
        if not self.has_parity:
            return (self,)
        return tuple(replace(self, parity_bandwidth=h) for h in narrowing(self.parity_bandwidth))

    def ragged(
        self, X: Sequence[Tensor], y: Sequence[Tensor], weights: Sequence[Tensor] | None = None
    ) -> Batch:
        """Prepare groups of different sizes, for solvers that use all rows at once."""
        return Batch(tuple(self.likelihood.prepare(rows) for rows in X), tuple(y), weights)

    def stack(self, X: Tensor, y: Tensor, weights: Tensor | None = None) -> Batch:
        """Prepare equally many rows ``(K, b, d)`` of every group, for minibatch solvers."""
        return Batch(self.likelihood.prepare(X), y, weights)

    def terms(self, group_parameters: Tensor, batch: Batch, *, seed: int = 0) -> Terms:
        """Evaluate the objective for parameters ``(K, m)`` on a batch, under autograd."""
        losses = self._losses(group_parameters, batch, seed)
        tie = disparity(group_parameters)
        objective = self.total(losses) + self.alpha * tie
        if self.weight_decay:
            objective = objective + self.weight_decay * group_parameters.square().sum()
        if self.has_parity:
            assert self.parity is not None
            overall = overall_parameters(group_parameters, self.center)
            scores = self._overall_scores(overall, batch, seed)
            gap = parity_penalty(
                scores,
                batch.labels,
                parity=self.parity,
                threshold=self.threshold,
                tolerance=self.parity_tolerance,
                bandwidth=self.parity_bandwidth,
                weights=batch.weights,
            )
            objective = objective + self.parity_weight * gap
        return Terms(objective, losses, tie)

    def total(self, losses: Tensor) -> Tensor:
        """Return the weighted sum of the groups' losses."""
        if self.group_weights is None:
            return losses.sum()
        return losses @ losses.new_tensor(self.group_weights)

    def _losses(self, group_parameters: Tensor, batch: Batch, seed: int) -> Tensor:
        log_probability = self.likelihood.log_probability
        if isinstance(batch.labels, Tensor):
            found = -log_probability(group_parameters, batch.rows, batch.labels, seed)
            return (found * batch.weights if isinstance(batch.weights, Tensor) else found).mean(-1)
        weights = batch.weights if batch.weights is not None else [1.0] * len(batch.labels)
        by_group = zip(group_parameters, batch.rows, batch.labels, weights, strict=True)
        return torch.stack(
            [
                # A group without rows, as held-out ones may be, has no say.
                -(log_probability(w, rows, y, seed) * of).mean() if len(y) else w.new_zeros(())
                for w, rows, y, of in by_group
            ]
        )

    def _overall_scores(self, overall: Tensor, batch: Batch, seed: int) -> Sequence[Tensor]:
        if batch.stacked:
            stacked = overall.expand(len(batch.labels), -1)
            return self.likelihood.scores(stacked, batch.rows, seed).unbind()
        return [self.likelihood.scores(overall, rows, seed) for rows in batch.rows]


def weigh_groups(kind: str, sizes: Sequence[float]) -> tuple[float, ...] | None:
    """Return the groups' weights in the objective, whose mean is 1; None if all are equal.

    Examples
    --------
    >>> weigh_groups("share", [300, 100])
    (1.5, 0.5)
    """
    if kind == "equal":
        return None
    return tuple(len(sizes) * size / sum(sizes) for size in sizes)
