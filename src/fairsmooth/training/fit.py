"""From checked arrays to trained parameters: choose the way, hold out, solve."""

import copy
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fairsmooth._random import numpy_generator
from fairsmooth._types import Floats, Labels
from fairsmooth.core.architecture import ModuleNetwork, Network
from fairsmooth.core.build import AnyNetwork, shared_start
from fairsmooth.core.device import resolve_device
from fairsmooth.data.groups import Groups
from fairsmooth.data.splits import hold_out
from fairsmooth.exceptions import InputError
from fairsmooth.training.convergence import Solution, warn_unmet
from fairsmooth.training.example import Example
from fairsmooth.training.grouped import GroupedRows
from fairsmooth.training.history import TrainingStep
from fairsmooth.training.journalled import journalled
from fairsmooth.training.likelihood import Likelihood, LinearLikelihood, choose_likelihood
from fairsmooth.training.linear_pass import LinearPass
from fairsmooth.training.objective import linear_curvature
from fairsmooth.training.problem import Problem, weigh_groups
from fairsmooth.training.row_sums import RowSums
from fairsmooth.training.scales import check_scales
from fairsmooth.training.settings import Settings
from fairsmooth.training.shared_rows import SharedRows, placed, shared_settings
from fairsmooth.training.solvers import GroupTensors, LinearSolver, Solver, TensorSolver


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
    example: Example,
    *,
    settings: Settings,
    start: Floats | None = None,
) -> Trained:
    """Train every group's parameters together, and once more without the tie.

    The second training starts where the first ended, so it costs little; it
    shows what the tie cost each group. ``start`` (K, m) is where to begin, if not at the
    point that the seed gives to all groups.
    """
    (n_rows,) = example.ranks.sum([len(example.X)])
    settings = settings.resolved(architecture, n_rows=int(n_rows))
    if example.ranks.size > 1:
        settings = shared_settings(architecture, settings)
    if isinstance(architecture, Network) and len(example.X):
        check_scales(example.X, example.names, sigma=settings.sigma)
    kept, held_out = _hold_out(example.y, example.groups, settings)
    place = _place(architecture, settings)
    first = shared_start(architecture, seed=settings.seed).to(place).repeat(len(kept), 1)
    if start is not None:
        _require_same_network(start, architecture.n_parameters)
        first = torch.tensor(start).to(place)
    history: list[TrainingStep] = []

    def report(step: TrainingStep) -> None:
        history.append(step)
        if settings.verbose:
            print(_line(step), file=sys.stderr)
        if settings.callback is not None:
            settings.callback(step)

    solver = _solver(_at(architecture, place), example, kept, held_out, settings, place)
    tied = solver.solve(first, settings, report)
    # One that begins where another ended may have nothing left to do.
    judged = _started(tied) if start is None else tied
    warn_unmet(judged, what="Training", remedy=_remedy(settings))
    free = None
    if settings.free_reference and settings.alpha > 0:
        free = solver.solve_untied(tied, settings.untied())
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


def _require_same_network(start: Floats, n_parameters: int) -> None:
    if start.shape[1] != n_parameters:
        raise InputError(
            "Expected the layers or the module of the last fit with warm_start=True, got others: "
            f"{n_parameters} parameters of each group, not {start.shape[1]}. Set warm_start=False."
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


def _hold_out(
    y: Labels, groups: Groups, settings: Settings
) -> tuple[list[NDArray[np.intp]], list[NDArray[np.intp]]]:
    """Split every group's rows, label by label, so that neither part lacks a cell it had."""
    if not settings.hold_out:
        return groups.rows(), [rows[:0] for rows in groups.rows()]
    permute = numpy_generator(settings.seed, "hold-out").permutation
    cells = 2 * groups.codes + y
    kept, held_out = hold_out(cells, settings.validation_fraction, permute=permute)
    if not len(held_out):
        raise InputError(
            "Expected rows to hold out for early_stopping or threshold, got none: "
            f"validation_fraction={settings.validation_fraction} of no group and label is a row. "
            "Increase validation_fraction."
        )
    every = range(len(groups.labels))
    return (
        [kept[groups.codes[kept] == group] for group in every],
        [held_out[groups.codes[held_out] == group] for group in every],
    )


def _solver(
    architecture: AnyNetwork,
    example: Example,
    kept: Sequence[NDArray[np.intp]],
    held_out: Sequence[NDArray[np.intp]],
    settings: Settings,
    place: Tensor,
) -> "Solver":
    """Choose how the rows are gone over."""
    likelihood = choose_likelihood(
        architecture,
        sigma=settings.sigma,
        link=settings.link,
        smoothing=settings.smoothing,
        kept=settings.solver == "lbfgs",
    )
    sizes = example.ranks.sum([_total(example.weights, rows) for rows in kept]).tolist()
    make = partial(_problem, likelihood, sizes)
    curvature = place.new_ones(architecture.n_parameters)
    if isinstance(likelihood, LinearLikelihood) and settings.solver == "lbfgs":
        data = GroupedRows.of(example.X, example.y, kept, example.weights)
        rows: RowSums = LinearPass(data, settings.sigma, settings.link)
        if example.ranks.size > 1:
            shared = LinearPass(placed(data, example.ranks), settings.sigma, settings.link)
            rows = SharedRows(shared, example.ranks)
        if place.device.type == "cpu":
            n_rows = int(example.ranks.sum([sum(map(len, kept))])[0])
            return LinearSolver(journalled(rows, data), make, n_rows)
        curvature = linear_curvature(rows).to(place)
    tensors = partial(GroupTensors.of, example.X, example.y, example.weights, place=place)
    validation = tensors(held_out) if settings.early_stopping else None
    return TensorSolver(tensors(kept), validation, curvature, make, example.ranks)


def _total(weights: Floats | None, rows: NDArray[np.intp]) -> float:
    return len(rows) if weights is None else float(weights[rows].sum())


def _problem(likelihood: Likelihood, sizes: Sequence[float], settings: Settings) -> Problem:
    return Problem(
        likelihood=likelihood,
        alpha=settings.alpha,
        weight_decay=settings.weight_decay,
        group_weights=weigh_groups(settings.group_weights, sizes),
        parity=settings.parity,
        parity_weight=settings.parity_weight,
        parity_tolerance=settings.parity_tolerance,
        parity_bandwidth=settings.parity_bandwidth,
        center=settings.center,
        # One that is chosen after training is not known yet.
        threshold=0.5 if isinstance(settings.threshold, str) else settings.threshold,
    )


def _as_array(parameters: Tensor) -> Floats:
    return parameters.detach().cpu().double().numpy()


def _line(step: TrainingStep) -> str:
    losses = " ".join(f"{loss:.4f}" for loss in step.losses)
    return (
        f"{step.step:4d}  objective {step.objective:.6f}  losses {losses}  "
        f"disparity {step.disparity:.3e}"
    )
