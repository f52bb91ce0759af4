"""Minibatch solvers: the paper's update, Eq. (17), and Adam."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import torch
from torch import Tensor

from fairsmooth._random import seed_from, torch_generator
from fairsmooth.core.ranks import ALONE, Ranks
from fairsmooth.training.annealing import stage_of_epoch
from fairsmooth.training.convergence import Solution, require_finite, still_falling
from fairsmooth.training.epochs import Epochs
from fairsmooth.training.history import Report, as_step
from fairsmooth.training.problem import Problem, Terms
from fairsmooth.training.row_blocks import drawn_rows
from fairsmooth.training.shared_batches import SharedBatches
from fairsmooth.training.steps import STEPS


@dataclass(frozen=True)
class Schedule:
    """How a minibatch solver goes through the data.

    A step uses about ``batch_size`` rows, equally many of **every** group, because each
    group's loss is a mean of its own. An epoch is as many steps as it takes
    to visit as many rows as there are, ``n / batch_size``, however many groups they
    belong to; within it small groups are gone through more than once, large ones in part.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    seed: int
    patience: int | None = None

    def rows_of_each(self, n_groups: int) -> int:
        """Return how many rows of each group a step uses, at least 1."""
        return math.ceil(self.batch_size / n_groups)

    def steps(self, n_rows: int) -> int:
        """Return how many steps an epoch has."""
        return math.ceil(n_rows / self.batch_size)


def solve_stochastic(
    problem: Problem,
    start: Tensor,
    X: Sequence[Tensor],
    y: Sequence[Tensor],
    *,
    weights: Sequence[Tensor] | None = None,
    solver: str,
    schedule: Schedule,
    report: Report,
    validation_loss: Callable[[Tensor], float] | None = None,
    earlier_fall: float = 0.0,
    ranks: Ranks = ALONE,
) -> Solution:
    """Minimise the objective with minibatches of every group at once.

    With ``solver="sgd"`` each step is Eq. (17): the gradient of each group's
    loss on its own batch, and the tie to the other groups' current parameters.
    With ``validation_loss`` and ``schedule.patience``, the parameters with the
    least loss on held-out rows are returned, and training stops after
    ``patience`` epochs without improvement. Several ranks, each with rows and labels of its own,
    draw the same batches and take the same steps.
    """
    began = time.perf_counter()
    parameters = start.clone().requires_grad_()
    optimiser = STEPS[solver](parameters, schedule.learning_rate)
    state = Epochs.of(parameters, optimiser)
    what = f"{solver} {problem.alpha!r}"
    state.recall(what, start)
    for epoch, known in enumerate(state.means, 1):
        report(as_step(known, epoch, began))
    own = _WholeBatches(X, y, weights)
    batches = own if ranks.size == 1 else SharedBatches.of(X, y, ranks)
    for epoch in range(len(state.means) + 1, schedule.epochs + 1):
        if state.has_stopped(schedule.patience):
            break
        seen, stage = [], stage_of_epoch(problem, epoch, epochs=schedule.epochs)
        for step, rows in enumerate(_epoch(batches.sizes, schedule, epoch)):
            seed = seed_from(schedule.seed, epoch, step)
            terms, gradient = batches.evaluate(stage, parameters, rows, seed=seed)
            optimiser.step(gradient)
            seen.append(terms)
        mean = Terms.mean(seen)
        state.means.append(mean)
        state.objectives += [each.objective.item() for each in seen]
        require_finite(mean.objective, parameters, where=f"in epoch {epoch}")
        report(as_step(mean, epoch, began))
        if validation_loss is not None:
            state.judge(validation_loss(parameters.detach()))
        state.keep(what, start)
    if state.has_stopped(schedule.patience):
        return Solution(state.best, steps=len(state.means))
    if validation_loss is not None:
        return Solution(state.best, schedule.epochs, unmet=_never_stopped(schedule))
    steps = schedule.steps(sum(batches.sizes))
    return Solution(
        parameters.detach(),
        schedule.epochs,
        unmet=still_falling(state.objectives, earlier_fall=earlier_fall),
        fall=state.objectives[0] - fmean(state.objectives[-steps:]),
    )


@dataclass(frozen=True, eq=False)
class _WholeBatches:
    """All rows, labels and weights by group."""

    X: Sequence[Tensor]
    y: Sequence[Tensor]
    weights: Sequence[Tensor] | None

    @property
    def sizes(self) -> list[int]:
        return [len(rows) for rows in self.X]

    def evaluate(
        self, problem: Problem, parameters: Tensor, rows: Sequence[Tensor], *, seed: int
    ) -> tuple[Terms, Tensor]:
        """Return the terms of a batch and their gradient."""
        of = None if self.weights is None else _take(self.weights, rows)
        batch = problem.stack(_take(self.X, rows), _take(self.y, rows), of)
        terms = problem.terms(parameters, batch, seed=seed)
        (gradient,) = torch.autograd.grad(terms.objective, parameters)
        return terms.detached(), gradient


def _epoch(sizes: Sequence[int], schedule: Schedule, epoch: int) -> list[list[Tensor]]:
    """Return the row numbers of every step of an epoch, one tensor per group."""
    generator = torch_generator(schedule.seed, "epoch", epoch)
    steps = schedule.steps(sum(sizes))
    size = schedule.rows_of_each(len(sizes))
    drawn = [drawn_rows(n_rows, steps * size, generator=generator).split(size) for n_rows in sizes]
    return [list(rows) for rows in zip(*drawn, strict=True)]


def _take(values: Sequence[Tensor], rows: Sequence[Tensor]) -> Tensor:
    return torch.stack([of[chosen] for of, chosen in zip(values, rows, strict=True)])


def _never_stopped(schedule: Schedule) -> str:
    return (
        f"the loss on held-out rows still improved within the last {schedule.patience} of "
        f"{schedule.epochs} epochs"
    )
