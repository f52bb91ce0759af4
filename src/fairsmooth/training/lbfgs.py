r"""Full-batch L-BFGS in float64, for all groups together.

The tie makes Eq. (15) badly conditioned: differences between groups meet the
curvature :math:`2\alpha K` of the tie, the mean does not, and a rare indicator
column has far less curvature than a common one. The solver therefore works on
rescaled parameters, in which mean and differences, and every column, have a
curvature near 1.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from fairsmooth.training.history import Record, Report
from fairsmooth.training.problem import Batch, Problem, Terms


def solve_lbfgs(
    problem: Problem,
    start: Tensor,
    batch: Batch,
    *,
    curvature: Tensor,
    max_iter: int,
    tol: float,
    report: Report,
) -> Tensor:
    """Minimise the objective over all groups' parameters at once.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    start : Tensor of shape (K, m)
        Where to start, the same point for every group.
    batch : Batch
        All rows, in float64.
    curvature : Tensor of shape (m,)
        Rough second derivatives of a group's loss; they only affect speed.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when no entry of the rescaled gradient exceeds it.
    report : callable
        Receives a :class:`Record` after every iteration.

    Returns
    -------
    Tensor of shape (K, m)
    """
    began = time.perf_counter()
    scales = _Scales.of(problem, curvature, n_groups=len(start))
    last: list[Terms] = []

    def evaluate(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scaled = torch.as_tensor(flat, device=start.device).view_as(start)
        point = scales.apply(scaled).requires_grad_()
        terms = problem.terms(point, batch)
        (gradient,) = torch.autograd.grad(terms.objective, point)
        last[:] = [terms]
        return terms.objective.item(), scales.apply(gradient).cpu().numpy().ravel()

    steps = 0

    def after_iteration(_: Any) -> None:
        nonlocal steps
        steps += 1
        report(as_record(last[0], steps, began))

    solution = minimize(
        evaluate,
        scales.undo(start).cpu().numpy().ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=after_iteration,
        options={"maxiter": max_iter, "maxcor": 20, "gtol": tol, "ftol": 1e-12},
    )
    return scales.apply(torch.as_tensor(solution.x, device=start.device).view_as(start))


@dataclass(frozen=True)
class _Scales:
    """One factor per column for the groups' mean, one for their differences from it."""

    mean: Tensor
    difference: Tensor

    @classmethod
    def of(cls, problem: Problem, curvature: Tensor, *, n_groups: int) -> "_Scales":
        common = curvature + 2.0 * problem.weight_decay
        return cls(common.rsqrt(), (common + 2.0 * problem.alpha * n_groups).rsqrt())

    def apply(self, parameters: Tensor) -> Tensor:
        middle = parameters.mean(0)
        return middle * self.mean + (parameters - middle) * self.difference

    def undo(self, parameters: Tensor) -> Tensor:
        middle = parameters.mean(0)
        return middle / self.mean + (parameters - middle) / self.difference


def as_record(terms: Terms, step: int, began: float) -> Record:
    """Take the numbers out of the tensors."""
    return Record(
        step=step,
        objective=terms.objective.item(),
        losses=tuple(terms.losses.tolist()),
        disparity=terms.disparity.item(),
        seconds=time.perf_counter() - began,
    )
