"""From checked arrays to trained parameters: choose the way, hold out, solve."""

import copy
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairsmooth._random import numpy_generator
from fairsmooth._types import Floats, Labels
from fairsmooth.core.architecture import ModuleNetwork, Network
from fairsmooth.core.build import AnyNetwork, shared_start
from fairsmooth.data.groups import Groups
from fairsmooth.data.splits import hold_out
from fairsmooth.exceptions import InputError
from fairsmooth.training.annealing import solve_in_stages
from fairsmooth.training.convergence import Solution, warn_unmet
from fairsmooth.training.history import Report, TrainingStep
from fairsmooth.training.lbfgs import solve_lbfgs
from fairsmooth.training.likelihood import choose_likelihood
from fairsmooth.training.problem import Problem, weigh_groups
from fairsmooth.training.scales import check_scales
from fairsmooth.training.settings import Settings
from fairsmooth.training.stochastic import Schedule, solve_stochastic


@dataclass(frozen=True)
class Trained:
    """What training returns.

    ``held_out`` are the rows that were not trained on: those kept for early
    stopping or a threshold, or none.
    """

    group_parameters: Floats
    free_group_parameters: Floats | None
    history: tuple[TrainingStep, ...]
    held_out: NDArray[np.intp]


def train(
    architecture: AnyNetwork,
    X: Floats,
    y: Labels,
    groups: Groups,
    *,
    settings: Settings,
    names: Sequence[str] | None = None,
) -> Trained:
    """Train every group's parameters together, and once more without the tie.

    The second training starts where the first ended, so it costs little; it
    shows what the tie cost each group. ``names`` are the columns', for messages.
    """
    settings = settings.resolved(architecture, n_rows=len(X))
    if isinstance(architecture, Network):
        check_scales(X, names, sigma=settings.sigma)
    kept, held_out = _hold_out(y, groups, settings)
    place = _place(architecture, settings)
    data = _GroupTensors.of(X, y, kept, place)
    validation = _GroupTensors.of(X, y, held_out, place) if settings.early_stopping else None
    start = shared_start(architecture, seed=settings.seed).to(place)
    history: list[TrainingStep] = []

    def report(step: TrainingStep) -> None:
        history.append(step)
        if settings.verbose:
            print(_line(step), file=sys.stderr)
        if settings.callback is not None:
            settings.callback(step)

    solver = _Solver(_at(architecture, place), data, validation, settings)
    tied = solver.solve(start.repeat(len(kept), 1), settings, report)
    warn_unmet(_started(tied), what="Training", remedy=_remedy(settings))
    free = None
    if settings.free_reference and settings.alpha > 0:
        free = solver.solve(tied.parameters, settings.untied(), lambda step: None, tied.fall)
        warn_unmet(
            free,
            what="The reference without the tie, which tying costs are measured against,",
            remedy=_remedy(settings),
        )
    return Trained(
        group_parameters=_as_array(tied.parameters),
        free_group_parameters=None if free is None else _as_array(free.parameters),
        history=tuple(history),
        held_out=np.sort(np.concatenate(held_out)),
    )


def _started(solution: Solution) -> Solution:
    """Count a training without a single step as one that did not do what it should."""
    if solution.steps:
        return solution
    why = "no step was taken, because at the start the objective is already flat to within tol"
    return replace(solution, unmet=why)


def _remedy(settings: Settings) -> str:
    if settings.solver == "lbfgs":
        return "Increase max_iter, standardise the columns, or accept a larger tol."
    return "Increase max_iter or learning_rate, or standardise the columns."


@dataclass(frozen=True)
class _GroupTensors:
    X: tuple[Tensor, ...]
    y: tuple[Tensor, ...]

    @classmethod
    def of(
        cls, X: Floats, y: Labels, rows: Sequence[NDArray[np.intp]], place: Tensor
    ) -> "_GroupTensors":
        return cls(
            tuple(torch.tensor(X[r]).to(place) for r in rows),
            tuple(torch.tensor(y[r]).to(place) for r in rows),
        )


def _place(architecture: AnyNetwork, settings: Settings) -> Tensor:
    """Return an empty tensor of the type and on the device that training uses."""
    device = resolve_device(settings.device)
    # L-BFGS needs the digits, and a module's buffers are in float64; minibatch
    # gradients of a network are noisier than float32, the only type that MPS has.
    exact = settings.solver == "lbfgs" or isinstance(architecture, ModuleNetwork)
    dtype = torch.float64 if exact and device.type != "mps" else torch.float32
    return torch.empty(0, dtype=dtype, device=device)


def _at(architecture: AnyNetwork, place: Tensor) -> AnyNetwork:
    """Bring what a module holds besides its trainable parameters to where training runs."""
    if isinstance(architecture, ModuleNetwork) and place.device.type != "cpu":
        return ModuleNetwork(copy.deepcopy(architecture.module).to(place.device, place.dtype))
    return architecture


def resolve_device(name: str) -> torch.device:
    """Return the device of that name; "auto" is CUDA where there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    available = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if name not in available:
        raise InputError(
            f"Expected device to be one of 'auto', 'cpu', 'cuda', 'mps', got {name!r}."
        )
    if not available[name]:
        raise InputError(f"Expected an available device, got {name!r}, which this machine has not.")
    return torch.device(name)


def _hold_out(
    y: Labels, groups: Groups, settings: Settings
) -> tuple[list[NDArray[np.intp]], list[NDArray[np.intp]]]:
    """Split every group's rows, label by label, so that neither part lacks a cell it had."""
    if not settings.hold_out:
        return groups.rows(), [rows[:0] for rows in groups.rows()]
    permute = numpy_generator(settings.seed, "hold-out").permutation
    cells = 2 * groups.codes + y
    kept, held_out = hold_out(cells, settings.validation_fraction, permute=permute)
    every = range(len(groups.labels))
    return (
        [kept[groups.codes[kept] == group] for group in every],
        [held_out[groups.codes[held_out] == group] for group in every],
    )


class _Solver:
    """One set of rows, prepared once and solved on as often as need be."""

    def __init__(
        self,
        architecture: AnyNetwork,
        data: _GroupTensors,
        validation: _GroupTensors | None,
        settings: Settings,
    ) -> None:
        self.data = data
        self.validation = validation
        self.likelihood = choose_likelihood(
            architecture, sigma=settings.sigma, link=settings.link, smoothing=settings.smoothing
        )
        if settings.solver == "lbfgs":
            self.batch = Problem(self.likelihood, 0.0, 0.0).ragged(data.X, data.y)
            self.curvature = self.likelihood.curvature(data.X)

    def solve(
        self, start: Tensor, settings: Settings, report: Report, earlier_fall: float = 0.0
    ) -> Solution:
        problem = Problem(
            likelihood=self.likelihood,
            alpha=settings.alpha,
            weight_decay=settings.weight_decay,
            group_weights=weigh_groups(settings.group_weights, [len(y) for y in self.data.y]),
            parity=settings.parity,
            parity_weight=settings.parity_weight,
            parity_tolerance=settings.parity_tolerance,
            parity_bandwidth=settings.parity_bandwidth,
        )
        if settings.solver == "lbfgs":
            return solve_in_stages(
                problem,
                start,
                solve=self._lbfgs,
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
            solver=settings.solver,
            schedule=schedule,
            report=report,
            validation_loss=self._validation_loss(problem),
            earlier_fall=earlier_fall,
        )

    def _lbfgs(
        self, problem: Problem, start: Tensor, max_iter: int, tol: float, report: Report
    ) -> Solution:
        return solve_lbfgs(
            problem,
            start,
            self.batch,
            curvature=self.curvature,
            max_iter=max_iter,
            tol=tol,
            report=report,
        )

    def _validation_loss(self, problem: Problem) -> Callable[[Tensor], float] | None:
        if self.validation is None:
            return None
        batch = problem.ragged(self.validation.X, self.validation.y)

        def loss(group_parameters: Tensor) -> float:
            with torch.no_grad():
                return problem.terms(group_parameters, batch).objective.item()

        return loss


def _as_array(parameters: Tensor) -> Floats:
    return parameters.detach().cpu().double().numpy()


def _line(step: TrainingStep) -> str:
    losses = " ".join(f"{loss:.4f}" for loss in step.losses)
    return (
        f"{step.step:4d}  objective {step.objective:.6f}  losses {losses}  "
        f"disparity {step.disparity:.3e}"
    )
