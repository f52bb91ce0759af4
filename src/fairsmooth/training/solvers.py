"""One set of rows, prepared once and solved on as often as need be."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairsmooth._types import Floats, Labels
from fairsmooth.core.ranks import ALONE, Ranks
from fairsmooth.core.rows import DenseRows, Rows
from fairsmooth.core.rows.rows import Choice
from fairsmooth.training.annealing import Solve, solve_in_stages
from fairsmooth.training.apart import Evaluate, solve_apart
from fairsmooth.training.convergence import Solution
from fairsmooth.training.history import Report
from fairsmooth.training.lbfgs import solve_lbfgs
from fairsmooth.training.objective import (
    AutogradObjective,
    LinearObjective,
    away_from_zero,
    linear_curvature,
)
from fairsmooth.training.problem import Batch, Problem
from fairsmooth.training.row_sums import RowSums
from fairsmooth.training.settings import Settings
from fairsmooth.training.stochastic import Schedule, solve_stochastic

MakeProblem = Callable[[Settings], Problem]
# Groups share second derivatives where their own would take more than 64 MiB, or, by what was
# measured, more time than the passes that they save: groups of few rows for their features.
_MOST_ENTRIES = 2**23
_LEAST_ROWS = 20
# Rows of groups that are not done yet are copied where all, spelt out, would take 512 MiB: passes
# over more take the time they take, since groups of many rows are done at the same time.
_MOST_COPIED = 2**26


class Solver(ABC):
    """Rows, and the way to minimise an objective on them."""

    @abstractmethod
    def solve(self, start: Tensor, settings: Settings, report: Report) -> Solution:
        """Minimise from a point ``(K, m)``."""

    @abstractmethod
    def solve_untied(self, tied: Solution, settings: Settings) -> Solution:
        """Go on without the tie from where the tied training ended."""


@dataclass(frozen=True, eq=False)
class LinearSolver(Solver):
    """A linear model by full-batch L-BFGS: rows in any form.

    No copy of them is made, but for the reference: of few rows, those of the groups that are not
    done.
    """

    rows: RowSums
    make_problem: MakeProblem
    n_rows: int

    @cached_property
    def curvature(self) -> Tensor:
        """Second derivatives at the start, which scale the steps."""
        return linear_curvature(self.rows)

    def solve(self, start: Tensor, settings: Settings, report: Report) -> Solution:
        """Minimise over all groups together."""
        return solve_in_stages(
            self.make_problem(settings),
            start,
            solve=self._lbfgs,
            max_iter=int(settings.max_iter or 1),
            tol=settings.tol,
            report=report,
        )

    def _lbfgs(
        self, problem: Problem, start: Tensor, max_iter: int, tol: float, report: Report
    ) -> Solution:
        objective = LinearObjective(problem, self.rows)
        how: Any = {"max_iter": max_iter, "tol": tol, "report": report}
        return solve_lbfgs(objective, start, curvature=self.curvature, **how)

    def solve_untied(self, tied: Solution, settings: Settings) -> Solution:
        """Minimise every group's own loss, all in step.

        What a group adds to the objective is divided by its weight in it: else a small group
        would be done where the gradient is small because the group is.
        """
        problem = self.make_problem(settings)
        weights = problem.group_weights or (1.0,) * len(tied.parameters)
        decays = settings.weight_decay / tied.parameters.new_tensor(weights)

        def own(rows: RowSums, decays: Tensor) -> Evaluate:
            objective = LinearObjective(replace(problem, group_weights=None), rows)

            def evaluate(W: Tensor) -> tuple[Tensor, Tensor]:
                losses, gradient = objective.apart(W)
                value = losses + decays * W.square().sum(-1)
                return value, gradient + 2.0 * decays.unsqueeze(-1) * W

            return evaluate

        def narrowed(groups: Tensor) -> Evaluate:
            return own(self.rows.of_groups(groups.numpy()), decays[groups])

        small = self.n_rows * tied.parameters.shape[1] <= _MOST_COPIED
        return solve_apart(
            own(self.rows, decays),
            tied.parameters,
            factors=self._factors(tied.parameters, decays),
            max_iter=int(settings.max_iter or 1),
            tol=settings.tol,
            narrowed=narrowed if small else None,
        )

    def _factors(self, parameters: Tensor, decays: Tensor) -> Tensor:
        """Return Cholesky factors of second derivatives: each group's own, or shared."""
        shared = 2.0 * float(decays.min())
        if self.curvature.ndim == 1:
            return (self.curvature + shared).sqrt()
        unit = torch.eye(len(self.curvature), dtype=self.curvature.dtype)
        few_rows = self.n_rows < _LEAST_ROWS * parameters.numel()
        if few_rows or len(parameters) * unit.numel() > _MOST_ENTRIES:
            return torch.linalg.cholesky(self.curvature + shared * unit)
        own = away_from_zero(self.rows.curvatures(parameters.numpy()))
        return torch.linalg.cholesky(own + 2.0 * decays.view(-1, 1, 1) * unit)


@dataclass(frozen=True, eq=False)
class GroupTensors:
    """Dense rows, labels and weights by group, where training runs."""

    X: tuple[Any, ...]
    y: tuple[Tensor, ...]
    weights: tuple[Tensor, ...] | None

    @classmethod
    def of(
        cls,
        X: Rows,
        y: Labels,
        weights: Floats | None,
        rows: Sequence[NDArray[np.intp]],
        *,
        place: Tensor,
    ) -> "GroupTensors":
        """Take every group's rows; weights get the mean 1 in every group."""
        scaled = None
        if weights is not None:
            means = [weights[r].mean() if len(r) else 1.0 for r in rows]
            scaled = tuple(
                torch.tensor(weights[r] / mean).to(place)
                for r, mean in zip(rows, means, strict=True)
            )
        return cls(
            tuple(LazyRows.of(X.take(_neighbours(r)), place) for r in rows),
            tuple(torch.tensor(y[r]).to(place) for r in rows),
            scaled,
        )

    def batch(self, problem: Problem) -> Batch:
        """Prepare all rows at once."""
        return problem.ragged([rows[:] for rows in self.X], self.y, self.weights)


def _neighbours(rows: NDArray[np.intp]) -> Choice:
    """Return a slice where the rows are neighbours, so that what is mapped is not copied."""
    if len(rows) and (np.diff(rows) == 1).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


@dataclass(frozen=True, eq=False)
class LazyRows:
    """Rows that are spelt out when they are taken."""

    rows: Rows
    place: Tensor

    @classmethod
    def of(cls, rows: Rows, place: Tensor) -> "Tensor | LazyRows":
        """Return dense rows as the tensor that they are."""
        if isinstance(rows, DenseRows):
            return torch.tensor(rows.X).to(place)
        return cls(rows, place)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: Tensor | slice) -> Tensor:
        taken = self.rows.take(chosen if isinstance(chosen, slice) else chosen.numpy())
        return torch.tensor(taken.toarray()).to(self.place)


@dataclass(frozen=True, eq=False)
class TensorSolver(Solver):
    """Networks, minibatches, other devices: dense tensors under automatic differentiation."""

    data: GroupTensors
    validation: GroupTensors | None
    curvature: Tensor
    make_problem: MakeProblem
    ranks: Ranks = ALONE

    def solve(
        self, start: Tensor, settings: Settings, report: Report, earlier_fall: float = 0.0
    ) -> Solution:
        """Minimise by the solver that the settings name."""
        problem = self.make_problem(settings)
        if settings.solver == "lbfgs":
            return solve_in_stages(
                problem,
                start,
                solve=self._lbfgs(self.data.batch(problem)),
                max_iter=int(settings.max_iter or 1),
                tol=settings.tol,
                report=report,
            )
        schedule = Schedule(
            epochs=int(settings.max_iter or 1),
            batch_size=settings.batch_size,
            learning_rate=float(settings.learning_rate or 0.0),
            seed=settings.seed,
            patience=settings.n_iter_no_change if settings.early_stopping else None,
        )
        return solve_stochastic(
            problem,
            start,
            self.data.X,
            self.data.y,
            weights=self.data.weights,
            solver=settings.solver,
            schedule=schedule,
            report=report,
            validation_loss=self._validation_loss(problem),
            earlier_fall=earlier_fall,
            ranks=self.ranks,
        )

    def _lbfgs(self, batch: Batch) -> Solve:
        def solve(
            problem: Problem, start: Tensor, max_iter: int, tol: float, report: Report
        ) -> Solution:
            objective = AutogradObjective(problem, batch)
            how: Any = {"max_iter": max_iter, "tol": tol, "report": report}
            return solve_lbfgs(objective, start, curvature=self.curvature, **how)

        return solve

    def solve_untied(self, tied: Solution, settings: Settings) -> Solution:
        """Go on from the tied parameters, a quarter as long with minibatches."""
        return self.solve(tied.parameters, settings, lambda step: None, tied.fall)

    def _validation_loss(self, problem: Problem) -> Callable[[Tensor], float] | None:
        if self.validation is None:
            return None
        batch = self.validation.batch(problem)

        def loss(group_parameters: Tensor) -> float:
            with torch.no_grad():
                return problem.terms(group_parameters, batch).objective.item()

        return loss
