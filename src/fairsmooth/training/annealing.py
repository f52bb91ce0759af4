"""The parity term's bandwidth, narrowed while training runs: wide slopes first, then true ones."""

import time
from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from fairsmooth.training.convergence import Solution
from fairsmooth.training.history import Report, TrainingStep
from fairsmooth.training.problem import Problem

# From a problem, a start, most iterations and a tolerance to where a solver stopped.
Solve = Callable[[Problem, Tensor, int, float, Report], Solution]
# Stages before the last one only bring its start near: they may stop earlier.
_EARLIER = 10.0


def solve_in_stages(
    problem: Problem, start: Tensor, *, solve: Solve, max_iter: int, tol: float, report: Report
) -> Solution:
    """Solve every stage of a problem from where the last one ended; all share ``max_iter``.

    Stages before the last have at most half of the iterations, and a tolerance ten times as
    large. What is reported, and whether the tolerance was met, is that of the last.
    """
    *earlier, last = problem.stages()
    began, taken, solution = time.perf_counter(), 0, Solution(start, 0)
    for stage in earlier:
        most = max(1, max_iter // (2 * len(earlier)))
        solution = solve(stage, solution.parameters, most, _EARLIER * tol,
                         _continued(report, taken, began))  # fmt: skip
        taken += solution.steps
    left = max(1, max_iter - taken)
    done = solve(last, solution.parameters, left, tol, _continued(report, taken, began))
    return replace(done, steps=taken + done.steps)


def stage_of_epoch(problem: Problem, epoch: int, *, epochs: int) -> Problem:
    """Return the stage of an epoch: narrowed over the first half of them, then as wanted."""
    stages = problem.stages()
    place = int(2.0 * epoch / epochs * (len(stages) - 1))
    return stages[min(place, len(stages) - 1)]


def _continued(report: Report, taken: int, began: float) -> Report:
    """Number a stage's steps, and count its seconds, on from those of the stages before."""
    before = time.perf_counter() - began

    def go_on(step: TrainingStep) -> None:
        report(replace(step, step=taken + step.step, seconds=before + step.seconds))

    return go_on
