"""Minibatch solvers: the paper's update, Eq. (17), and Adam."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fairsmooth._random import seed_from, torch_generator
from fairsmooth.training.batching import draw_rows
from fairsmooth.training.history import Report
from fairsmooth.training.lbfgs import as_record
from fairsmooth.training.problem import Problem

OPTIMISERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": torch.optim.SGD,
    "adam": torch.optim.Adam,
}


@dataclass(frozen=True)
class Schedule:
    """How a minibatch solver goes through the data.

    One epoch visits as many rows as there are, in batches of ``batch_size`` rows
    of **every** group: small groups are gone through more than once, because
    each group's loss is a mean of its own.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    seed: int
    patience: int | None = None


def solve_stochastic(
    problem: Problem,
    start: Tensor,
    X: Sequence[Tensor],
    y: Sequence[Tensor],
    *,
    solver: str,
    schedule: Schedule,
    report: Report,
    validation_loss: Callable[[Tensor], float] | None = None,
) -> Tensor:
    """Minimise the objective with minibatches of every group at once.

    With ``solver="sgd"`` each step is Eq. (17): the gradient of each group's
    loss on its own batch, and the tie to the other groups' current parameters.
    With ``validation_loss`` and ``schedule.patience``, the parameters with the
    least loss on held-out rows are returned, and training stops after
    ``patience`` epochs without improvement.
    """
    began = time.perf_counter()
    parameters = start.clone().requires_grad_()
    optimiser = OPTIMISERS[solver]([parameters], lr=schedule.learning_rate)
    best, best_loss, stale = parameters.detach().clone(), float("inf"), 0
    for epoch in range(1, schedule.epochs + 1):
        batches = _epoch(X, schedule, epoch)
        for step in range(batches[0].shape[0]):
            chosen = [rows[step] for rows in batches]
            batch = problem.stack(
                torch.stack([data[rows] for data, rows in zip(X, chosen, strict=True)]),
                torch.stack([labels[rows] for labels, rows in zip(y, chosen, strict=True)]),
            )
            optimiser.zero_grad(set_to_none=True)
            terms = problem.terms(parameters, batch, seed=seed_from(schedule.seed, epoch, step))
            terms.objective.backward()
            optimiser.step()
        report(as_record(terms, epoch, began))
        if validation_loss is None:
            continue
        loss = validation_loss(parameters.detach())
        if loss < best_loss:
            best, best_loss, stale = parameters.detach().clone(), loss, 0
        else:
            stale += 1
        if schedule.patience is not None and stale >= schedule.patience:
            break
    return best if validation_loss is not None else parameters.detach()


def _epoch(X: Sequence[Tensor], schedule: Schedule, epoch: int) -> list[Tensor]:
    """Return the row numbers of one epoch, ``(steps, batch_size)`` for every group."""
    generator = torch_generator(schedule.seed, "epoch", epoch)
    n_rows = sum(len(rows) for rows in X)
    steps = max(1, round(n_rows / (len(X) * schedule.batch_size)))
    return [
        draw_rows(torch.arange(len(rows)), steps * schedule.batch_size, generator=generator).view(
            steps, schedule.batch_size
        )
        for rows in X
    ]
