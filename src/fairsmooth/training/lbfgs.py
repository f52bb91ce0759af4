r"""Full-batch L-BFGS in float64, for all groups together.

The tie makes Eq. (15) badly conditioned: differences between groups meet the
curvature :math:`2\alpha K` of the tie, the mean does not, and columns of indicators
overlap. The solver therefore works on parameters rescaled by the curvature at the
start, in which every direction has a second derivative near 1.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from fairsmooth.training.convergence import Solution, require_finite
from fairsmooth.training.history import Report, as_step
from fairsmooth.training.objective import Objective
from fairsmooth.training.problem import Problem, Terms

# In float64 the objective cannot be told apart from its neighbours where the gradient is
# smaller than the root of a rounding error: a tolerance below this counts as met there.
_RESOLVED = 1e-7


def solve_lbfgs(
    objective: Objective,
    start: Tensor,
    *,
    curvature: Tensor,
    max_iter: int,
    tol: float,
    report: Report,
) -> Solution:
    """Minimise the objective over all groups' parameters at once.

    Parameters
    ----------
    objective : Objective
        What to minimise, on rows in float64.
    start : Tensor of shape (K, m)
        Where to start, the same point for every group.
    curvature : Tensor of shape (m,) or (m, m)
        Rough second derivatives of a group's loss, positive; they only affect speed.
    max_iter : int
        Largest number of iterations.
    tol : float
        Stop when no entry of the rescaled gradient exceeds it; of a group that weighs less than
        1 in the objective, when none exceeds it times the weight. Else a group of few rows would
        be done where its part of the gradient is small because the group is.
    report : callable
        Receives a :class:`~fairsmooth.training.history.TrainingStep` after every iteration.

    Returns
    -------
    Solution
        Its ``unmet`` says so if the tolerance was not reached.
    """
    began = time.perf_counter()
    goal = _Goal.of(objective.problem, tol, n_groups=len(start))
    scales = _Scales.of(objective.problem, curvature, n_groups=len(start))
    last: list[Terms] = []
    slope = np.empty(0)

    def evaluate(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        nonlocal slope
        scaled = torch.as_tensor(flat, device=start.device).view_as(start)
        terms, gradient = objective.evaluate(scales.point(scaled))
        require_finite(terms.objective, gradient, where=f"in iteration {steps + 1}")
        last[:] = [terms]
        slope = scales.slope(gradient).cpu().numpy().ravel()
        return terms.objective.item(), slope

    steps = 0

    def after_iteration(_: Any) -> None:
        nonlocal steps
        steps += 1
        report(as_step(last[0], steps, began))
        # The point of an iteration is the one that was looked at last.
        if goal.excess(slope) <= 1.0:
            raise StopIteration

    limits = {"maxiter": max_iter, "maxfun": 10 * max_iter + 100, "maxcor": 20, "ftol": 1e-15}
    solution = minimize(
        evaluate,
        scales.undo(start).cpu().numpy().ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=after_iteration,
        options={**limits, "gtol": goal.least},
    )
    found = scales.point(torch.as_tensor(solution.x, device=start.device).view_as(start))
    unmet, excess = None, goal.excess(solution.jac)
    if excess > 1.0 and np.abs(solution.jac).max() > _RESOLVED:
        unmet = f"after {steps} iterations the largest entry of the gradient is {excess * tol:.2g}"
    return Solution(found, steps, unmet)


@dataclass(frozen=True)
class _Goal:
    """How small the entries of the rescaled gradient are to be, by group."""

    largest: NDArray[np.float64]

    @classmethod
    def of(cls, problem: Problem, tol: float, *, n_groups: int) -> "_Goal":
        weights = np.minimum(1.0, problem.group_weights or (1.0,) * n_groups)
        return cls(np.maximum(tol * weights, min(tol, _RESOLVED)))

    @property
    def least(self) -> float:
        """The goal of the group that weighs least: whoever meets it meets all."""
        return float(self.largest.min())

    def excess(self, slope: NDArray[np.float64]) -> float:
        """Return how many times its goal the worst group's largest entry is."""
        entries = np.abs(slope).reshape(len(self.largest), -1).max(axis=1)
        return float((entries / self.largest).max())


@dataclass(frozen=True)
class _Scales:
    """Factors of the curvature, of the groups' mean and of their differences from it.

    Cholesky factors of a matrix, or roots of a diagonal.
    """

    mean: Tensor
    difference: Tensor

    @classmethod
    def of(cls, problem: Problem, curvature: Tensor, *, n_groups: int) -> "_Scales":
        tie, decay = 2.0 * problem.alpha * n_groups, 2.0 * problem.weight_decay
        if curvature.ndim == 1:
            return cls((curvature + decay).sqrt(), (curvature + decay + tie).sqrt())
        unit = torch.eye(len(curvature), dtype=curvature.dtype, device=curvature.device)
        common = curvature + decay * unit
        return cls(torch.linalg.cholesky(common), torch.linalg.cholesky(common + tie * unit))

    def point(self, scaled: Tensor) -> Tensor:
        """Return parameters ``(K, m)`` for rescaled ones."""
        return self._split(scaled, lambda x, factor: _solve(factor, x, left=False))

    def slope(self, gradient: Tensor) -> Tensor:
        """Return the gradient with respect to the rescaled parameters."""
        return self._split(gradient, lambda x, factor: _solve(factor, x, left=True))

    def undo(self, parameters: Tensor) -> Tensor:
        """Return rescaled parameters for given ones."""
        return self._split(parameters, lambda x, f: x * f if f.ndim == 1 else x @ f)

    def _split(self, rows: Tensor, change: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        middle = rows.mean(0, keepdim=True)
        return change(middle, self.mean) + change(rows - middle, self.difference)


def _solve(factor: Tensor, rows: Tensor, *, left: bool) -> Tensor:
    """Return ``rows L⁻¹``, or ``rows L⁻ᵀ`` for gradients."""
    if factor.ndim == 1:
        return rows / factor
    if left:
        return torch.linalg.solve_triangular(factor, rows.mT, upper=False).mT
    return torch.linalg.solve_triangular(factor, rows, upper=False, left=False)
