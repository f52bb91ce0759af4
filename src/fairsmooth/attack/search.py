"""The attack: for every group, the input with the largest gap."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from fairsmooth import _validate
from fairsmooth._random import torch_generator
from fairsmooth._types import Floats
from fairsmooth.attack.ascent import Search
from fairsmooth.attack.hunt import Hunt, Pursuit, Solution
from fairsmooth.attack.regions import Box, Region, Unbounded
from fairsmooth.attack.result import AttackResult
from fairsmooth.attack.target import Target
from fairsmooth.exceptions import InputError

_DIRECTIONS = 8


@dataclass(frozen=True)
class Effort:
    """How many inputs a round tries, how many it climbs from, and how far out."""

    n_candidates: int
    n_starts: int
    log_largest: float


LINEAR = Effort(n_candidates=256, n_starts=32, log_largest=14.0)
# With a hidden layer the cost of exact smoothing grows with the norm of the input.
HIDDEN = Effort(n_candidates=96, n_starts=16, log_largest=4.5)


def attack(
    target: Target,
    *,
    seconds: float,
    box: tuple[ArrayLike, ArrayLike] | None = None,
    random_state: int = 0,
) -> tuple[AttackResult, ...]:
    r"""Look for the largest gap between overall and group scores over all inputs.

    Maximises :math:`|N(W^*)(x) - N(W_k)(x)|` over ``x`` for every group ``k``. For a linear
    model the whole space is solved by branch and bound, which also proves how large the
    supremum is at most; it takes a few hundredths of a second. Networks, calibrated scores, and
    boxes, are searched by gradient ascent from many starts through exact smoothing, round after
    round. What is found is a gap that occurs, so the supremum lies between it and the bound.

    Parameters
    ----------
    target : Target
        The model, linear or with one hidden layer.
    seconds : float
        Time for all groups together. Searches use all of it, unless they come
        within a millionth of the certificate's bound; every result says what it took.
    box : pair of array-like of shape (d,), optional
        Least and largest value of every feature. If given, the box is searched
        as well as the whole space.
    random_state : int
        Seeds the starts of searches. How many fit in the time depends on the machine.

    Returns
    -------
    tuple of AttackResult
        For every group one result for the whole space, then one for the box.

    Examples
    --------
    >>> from fairsmooth.core.architecture import Network
    >>> target = Target(Network(1), np.array([[1.0, 0.0], [2.0, 0.0]]),
    ...                 np.array([1.5, 0.0]), sigma=0.5, link="probit", groups=("a", "b"))
    >>> first, second = attack(target, seconds=1.0)
    >>> first.gap <= first.ceiling <= first.bound and not first.violates
    True
    """
    _validate.positive(seconds=seconds)
    end = time.monotonic() + seconds
    hunts = list(hunts_on(target, None if box is None else _as_box(target, box)))
    for round_ in count():
        waiting = [(turn, hunt) for turn, hunt in enumerate(hunts) if not hunt.done]
        for done, (turn, hunt) in enumerate(waiting):
            now = time.monotonic()
            if now > end and round_ > 0:
                break
            # An equal share of what is left, so that slow hunts do not starve later ones.
            deadline = now + (end - now) / (len(waiting) - done)
            hunt.advance(torch_generator(random_state, "attack", turn, round_), deadline=deadline)
        if not waiting or time.monotonic() > end:
            break
    return tuple(hunt.result() for hunt in hunts)


def hunts_on(target: Target, box: Box | None) -> Iterator[Hunt]:
    """Return for every group a hunt in the whole space, and one in the box if there is one."""
    for position in range(len(target.groups)):
        directions = torch.as_tensor(_directions(target, position))
        searched = target.network.hidden_layer_sizes or target.calibration is not None
        if searched or target.sigma == 0.0:
            free = Unbounded(target.network.n_features, _effort(target).log_largest)
            yield Pursuit("unbounded", _search(target, position, free, directions))
        else:
            yield Solution(target, position)
        if box is not None:
            yield Pursuit("box", _search(target, position, box, directions))


def _effort(target: Target) -> Effort:
    return HIDDEN if target.network.hidden_layer_sizes else LINEAR


def _search(target: Target, position: int, region: Region, directions: Tensor) -> Search:
    effort = _effort(target)
    return Search(
        target,
        position,
        region,
        directions,
        n_candidates=effort.n_candidates,
        n_starts=effort.n_starts,
    )


def _directions(target: Target, position: int) -> Floats:
    """Return input directions in which the first layers differ most, and the layers' own."""
    width = (*target.network.hidden_layer_sizes, 1)[0]
    shape = (width, target.network.n_features)
    overall, own = (
        weights[: width * shape[1]].reshape(shape)
        for weights in (target.parameters, target.group_parameters[position])
    )
    _, _, right = np.linalg.svd(own - overall, full_matrices=False)
    rows = np.concatenate([right[:_DIRECTIONS], _longest(overall), _longest(own)])
    return np.concatenate([rows, -rows])


def _longest(rows: Floats) -> Floats:
    return rows[np.argsort(-np.linalg.norm(rows, axis=1))[:_DIRECTIONS]]


def _as_box(target: Target, box: tuple[ArrayLike, ArrayLike]) -> Box:
    low, high = (np.asarray(end, dtype=np.float64) for end in box)
    shape = (target.network.n_features,)
    if low.shape != shape or high.shape != shape:
        raise InputError(
            f"Expected both ends of the box of shape {shape}, got {low.shape} and {high.shape}."
        )
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise InputError("Expected a finite box with low <= high, got another.")
    return Box(torch.as_tensor(low), torch.as_tensor(high))
