"""The three methods of smoothing behind the front door, each for one chunk of rows."""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from fairsmooth.core.architecture import Architecture, ModuleNetwork, Network
from fairsmooth.core.smoothing.confidence import RunningScores, stage_delta
from fairsmooth.core.smoothing.exact import smooth_with_error
from fairsmooth.core.smoothing.layerwise import antithetic_scores, smooth_layerwise
from fairsmooth.core.smoothing.linear import apply_link
from fairsmooth.core.smoothing.rounding import widen
from fairsmooth.core.smoothing.sampled import weight_pair_scores
from fairsmooth.exceptions import InputError

# The coarse mixtures for the logistic, proven within 1e-6, and the links' arithmetic in float32.
_LAYERWISE_ERROR = 3e-6
# What rounding may do to a score; where float32 does more, float64 is used.
_MOST_ROUNDING = 1e-4

# Exact scores with a larger error are announced.
_TELL = 1e-5

Result = tuple[Tensor, Tensor]
Source = Callable[..., Iterator[Tensor]]


@dataclass(frozen=True)
class Task:
    """What to smooth and how carefully.

    Parameters
    ----------
    architecture : Architecture
    parameters : Tensor of shape (m,)
    sigma : float
    link : {"logistic", "probit", "step"}
    n_draws : int
        Draws, or the first number of them if ``tolerance`` is given.
    seed : int
    delta : float or None
        Probability with which a row's interval may fail; None if no interval is wanted.
    tolerance : float or None
        Widest interval accepted.
    """

    architecture: Architecture
    parameters: Tensor
    sigma: float
    link: str
    n_draws: int
    seed: int
    delta: float | None
    tolerance: float | None


def exact(task: Task, rows: Tensor) -> Result:
    """Smooth a network with at most one hidden layer; the interval is the claimed error."""
    assert isinstance(task.architecture, Network)
    probability, error = smooth_with_error(
        task.architecture,
        task.parameters.double(),
        rows.double(),
        sigma=task.sigma,
        link=task.link,
    )
    # What is no number is refused by whoever asked for scores.
    unknown = int(((error > _TELL) & ~probability.isnan()).sum())
    if unknown:
        why = "would take too much work"
        if task.sigma == 0 or not task.architecture.hidden_layer_sizes:
            why = "ends at rounding, since huge numbers cancel in their logits"
        warnings.warn(
            f"Exact smoothing of {unknown} of {len(rows)} rows {why}: their "
            f"scores are known only within {float(error.max()):.1g}, as the interval says.",
            stacklevel=2,
        )
    if task.delta is None:
        return _without_interval(probability)
    return probability, widen(torch.stack([probability, probability], -1), error.unsqueeze(-1))


def layerwise(task: Task, rows: Tensor) -> Result:
    """Smooth a network by its hidden noise: Sobol points, or pairs if an interval is wanted."""
    assert isinstance(task.architecture, Network)
    network, weights, some = task.architecture, _narrow(task.parameters), _narrow(rows)
    rounding = _rounding(task, network, torch.float32)
    if rounding > _MOST_ROUNDING:
        weights, some = task.parameters.double(), rows.double()
        rounding = _rounding(task, network, torch.float64)
    common: dict[str, Any] = {"sigma": task.sigma, "link": task.link, "seed": task.seed}
    if task.delta is None:
        scores = smooth_layerwise(network, weights, some, n_draws=task.n_draws, **common)
        return _without_interval(_known(scores.double(), some))
    scores, interval = _sample(task, some, partial(antithetic_scores, network, weights, **common))
    return _known(scores, some), widen(interval, _LAYERWISE_ERROR + rounding)


def _rounding(task: Task, network: Network, dtype: torch.dtype) -> float:
    r"""Bound what rounding does to a score, to first order.

    It moves every weight by some units of the type, and by Lemma 2 the score by at most the length
    of that over :math:`\sqrt{2\pi}\sigma`. An interval allows for what errors of a sum add up to
    at worst, as many units as there are terms; usually they are four.
    """
    length = float(task.parameters.double().norm())
    worst = max(into + 16 for _, into in network.shapes)
    units = 4 if task.delta is None else worst
    moved = 0.5 * units * torch.finfo(dtype).eps * length
    return min(1.0, moved / (math.sqrt(2.0 * math.pi) * task.sigma))


def _narrow(values: Tensor) -> Tensor:
    narrow = values.float()
    if narrow.isinf().any():
        raise _too_large(values)
    return narrow


def _known(scores: Tensor, rows: Tensor) -> Tensor:
    """Return the scores, unless a hidden layer outgrew its numbers."""
    if not bool(torch.isfinite(scores).all()):
        raise _too_large(rows)
    return scores


def _too_large(values: Tensor) -> InputError:
    return InputError(
        "Expected rows, parameters and hidden layers below 3e38 in size for method='layerwise', "
        f"which computes in float32, got numbers up to {float(values.abs().max()):.3g}. "
        "Scale the columns."
    )


def monte_carlo(task: Task, rows: Tensor) -> Result:
    """Smooth anything by antithetic weight draws."""
    if not isinstance(task.architecture, ModuleNetwork) or rows.is_floating_point():
        rows = rows.to(task.parameters.dtype)
    if task.sigma == 0:
        scores = apply_link(task.architecture.logits(task.parameters, rows), task.link)
        return _without_interval(scores.double())
    source = partial(
        weight_pair_scores,
        task.architecture,
        task.parameters,
        sigma=task.sigma,
        link=task.link,
        seed=task.seed,
    )
    return _sample(task, rows, source)


SMOOTHERS = {"exact": exact, "layerwise": layerwise, "monte_carlo": monte_carlo}


def _without_interval(scores: Tensor) -> Result:
    return scores, scores.unsqueeze(-1).expand(-1, 2)


def _sample(task: Task, rows: Tensor, source: Source) -> Result:
    n_pairs = math.ceil(task.n_draws / 2)
    running = RunningScores(len(rows))
    for scores in source(rows, pairs=range(n_pairs)):
        running.add(scores)
    if task.delta is None:
        return _without_interval(running.mean)
    if task.tolerance is None:
        return running.mean, running.interval(task.delta)
    return _until_narrow(task, rows, source, running)


def _until_narrow(task: Task, rows: Tensor, source: Source, running: RunningScores) -> Result:
    """Double the draws of the rows whose interval is still too wide."""
    assert task.delta is not None
    assert task.tolerance is not None
    probability, interval = running.mean, running.interval(stage_delta(task.delta, 0))
    still = torch.arange(len(rows))
    stage = 0
    while True:
        wide = (interval[still, 1] - interval[still, 0]) > task.tolerance
        if not bool(wide.any()):
            return probability, interval
        still, running = still[wide], running.keep(wide)
        stage += 1
        for scores in source(rows[still], pairs=range(running.count, 2 * running.count)):
            running.add(scores)
        probability = probability.index_copy(0, still, running.mean)
        bounds = running.interval(stage_delta(task.delta, stage))
        interval = interval.index_copy(0, still, bounds)
