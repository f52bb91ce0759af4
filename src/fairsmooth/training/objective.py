"""Eq. (15) with its gradient on fixed rows, as full-batch solvers ask for it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fairsmooth.core.objective import disparity, disparity_gradient
from fairsmooth.training.overall import overall_parameters
from fairsmooth.training.problem import Batch, Problem, Terms
from fairsmooth.training.row_sums import RowSums

# Columns that overlap have no curvature of their own, columns of zeros none at all. The first
# is a share of each column's curvature, so that the units of a column do not matter.
_LEAST_SHARE = 1e-4
_LEAST_CURVATURE = 1e-12
# Beyond this a matrix of second derivatives costs more than it saves.
_MOST_COLUMNS = 2000


class Objective(ABC):
    """A function of all groups' parameters ``(K, m)``, to be minimised."""

    problem: Problem

    @abstractmethod
    def evaluate(self, group_parameters: Tensor) -> tuple[Terms, Tensor]:
        """Return the objective, taken apart, and its gradient ``(K, m)``."""


@dataclass(frozen=True, eq=False)
class AutogradObjective(Objective):
    """Any architecture on any device, by automatic differentiation."""

    problem: Problem
    batch: Batch

    def evaluate(self, group_parameters: Tensor) -> tuple[Terms, Tensor]:
        """Evaluate the terms and differentiate them."""
        point = group_parameters.detach().requires_grad_()
        terms = self.problem.terms(point, self.batch)
        (gradient,) = torch.autograd.grad(terms.objective, point)
        return terms.detached(), gradient


@dataclass(frozen=True, eq=False)
class LinearObjective(Objective):
    """A linear model on the processor: one pass over rows in whatever form they are kept."""

    problem: Problem
    rows: RowSums

    def evaluate(self, group_parameters: Tensor) -> tuple[Terms, Tensor]:
        """Add what the rows contribute, the tie, the weight decay and the parity term."""
        problem, W = self.problem, group_parameters
        losses, gradient = self.apart(W)
        tie = disparity(W)
        objective = problem.total(losses) + problem.alpha * tie
        gradient = gradient + problem.alpha * disparity_gradient(W)
        if problem.weight_decay:
            objective = objective + problem.weight_decay * W.square().sum()
            gradient += 2.0 * problem.weight_decay * W
        if problem.has_parity:
            point = W.detach().requires_grad_()
            overall = overall_parameters(point, problem.center)
            gap, slope = self.rows.parity(problem, overall.detach().numpy())
            objective = objective + problem.parity_weight * gap
            gradient += torch.autograd.grad(overall, point, problem.parity_weight * slope)[0]
        return Terms(objective, losses, tie), gradient

    def apart(self, group_parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Return every group's mean loss, and the gradient of their weighted sum."""
        found = self.rows.contribution(group_parameters.numpy())
        losses = torch.from_numpy(found.losses / found.weights)
        share = 1.0 / found.weights
        if self.problem.group_weights is not None:
            share = share * np.asarray(self.problem.group_weights)
        return losses, torch.from_numpy(found.gradient * share[:, None])


def linear_curvature(rows: RowSums) -> Tensor:
    """Return rough second derivatives of a group's loss, kept away from 0: (m, m), or (m,)."""
    if rows.n_parameters > _MOST_COLUMNS:
        return 0.25 * rows.squares() + _LEAST_CURVATURE
    return away_from_zero(rows.curvature())


def away_from_zero(curvature: Tensor) -> Tensor:
    """Add a little to the diagonals of matrices ``(..., m, m)``, in the units of each column."""
    diagonal = curvature.diagonal(dim1=-2, dim2=-1)
    return curvature + (_LEAST_SHARE * diagonal + _LEAST_CURVATURE).diag_embed()
