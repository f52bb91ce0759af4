"""From checked arrays to trained parameters: choose the way, hold out, solve."""

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
from fairsmooth.exceptions import InputError
from fairsmooth.training.history import Record, Report
from fairsmooth.training.lbfgs import solve_lbfgs
from fairsmooth.training.likelihood import choose_likelihood
from fairsmooth.training.problem import Problem, weigh_groups
from fairsmooth.training.stochastic import Schedule, solve_stochastic

_LEARNING_RATES = {"sgd": 0.05, "adam": 0.003}


@dataclass(frozen=True)
class Settings:
    """What :func:`train` is told; the names are those of the estimator."""

    seed: int
    sigma: float
    alpha: float
    link: str
    parity: str | None
    parity_weight: float
    parity_tolerance: tuple[float, float]
    group_weights: str
    solver: str
    max_iter: int | None
    batch_size: int
    learning_rate: float | None
    weight_decay: float
    tol: float
    smoothing: str
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    free_reference: bool
    device: str
    verbose: int
    callback: Report | None
    hold_out: bool

    def resolved(self, architecture: AnyNetwork) -> "Settings":
        """Fill in what was left to be chosen by architecture and solver."""
        linear = isinstance(architecture, Network) and not architecture.hidden_layer_sizes
        solver = self.solver if self.solver != "auto" else ("lbfgs" if linear else "adam")
        return replace(
            self,
            solver=solver,
            max_iter=self.max_iter or (200 if solver == "lbfgs" else 40),
            learning_rate=self.learning_rate or _LEARNING_RATES.get(solver, 0.0),
        )

    def untied(self) -> "Settings":
        """Return the settings of the reference: no tie, no extension.

        It starts where the tied training ended, so a minibatch solver needs a
        quarter of the epochs.
        """
        epochs = int(self.max_iter or 1)
        return replace(
            self,
            alpha=0.0,
            parity=None,
            parity_weight=0.0,
            max_iter=epochs if self.solver == "lbfgs" else -(-epochs // 4),
        )


@dataclass(frozen=True)
class Trained:
    """What training returns.

    ``held_out`` are the rows that were not trained on: those kept for early
    stopping or a threshold, or none.
    """

    group_parameters: Floats
    free_group_parameters: Floats | None
    history: tuple[Record, ...]
    held_out: NDArray[np.intp]


def train(
    architecture: AnyNetwork, X: Floats, y: Labels, groups: Groups, *, settings: Settings
) -> Trained:
    """Train every group's parameters together, and once more without the tie.

    The second training starts where the first ended, so it costs little; it
    shows what the tie cost each group.
    """
    settings = settings.resolved(architecture)
    rows = groups.rows()
    kept, held_out = _hold_out(rows, y, settings)
    place = _place(architecture, settings)
    data = _GroupTensors.of(X, y, kept, place)
    validation = _GroupTensors.of(X, y, held_out, place) if settings.early_stopping else None
    start = shared_start(architecture, seed=settings.seed).to(data.X[0])
    history: list[Record] = []

    def report(record: Record) -> None:
        history.append(record)
        if settings.verbose:
            print(_line(record), file=sys.stderr)
        if settings.callback is not None:
            settings.callback(record)

    solver = _Solver(architecture, data, validation, settings)
    tied = solver.solve(start.repeat(len(rows), 1), settings, report)
    free = None
    if settings.free_reference and settings.alpha > 0:
        free = solver.solve(tied, settings.untied(), lambda record: None)
    return Trained(
        group_parameters=_as_array(tied),
        free_group_parameters=None if free is None else _as_array(free),
        history=tuple(history),
        held_out=np.sort(np.concatenate(held_out)),
    )


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
    rows: Sequence[NDArray[np.intp]], y: Labels, settings: Settings
) -> tuple[list[NDArray[np.intp]], list[NDArray[np.intp]]]:
    """Split every group's rows, label by label, so that neither part lacks a cell it had."""
    if not settings.hold_out:
        return list(rows), [r[:0] for r in rows]
    generator = numpy_generator(settings.seed, "hold-out")
    kept, held_out = [], []
    for group_rows in rows:
        mask = np.zeros(len(group_rows), dtype=bool)
        for label in (0, 1):
            cell = np.flatnonzero(y[group_rows] == label)
            count = min(len(cell) - 1, round(settings.validation_fraction * len(cell)))
            mask[generator.permutation(cell)[:count]] = True
        kept.append(group_rows[~mask])
        held_out.append(group_rows[mask])
    return kept, held_out


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

    def solve(self, start: Tensor, settings: Settings, report: Report) -> Tensor:
        problem = Problem(
            likelihood=self.likelihood,
            alpha=settings.alpha,
            weight_decay=settings.weight_decay,
            group_weights=weigh_groups(settings.group_weights, [len(y) for y in self.data.y]),
            parity=settings.parity,
            parity_weight=settings.parity_weight,
            parity_tolerance=settings.parity_tolerance,
        )
        if settings.solver == "lbfgs":
            return solve_lbfgs(
                problem,
                start,
                self.batch,
                curvature=self.curvature,
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


def _line(record: Record) -> str:
    losses = " ".join(f"{loss:.4f}" for loss in record.losses)
    return (
        f"{record.step:4d}  objective {record.objective:.6f}  losses {losses}  "
        f"disparity {record.disparity:.3e}"
    )
