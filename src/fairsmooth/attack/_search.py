"""The attack: for every group, the input with the largest gap."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from fairsmooth import _validate
from fairsmooth._random import torch_generator
from fairsmooth._types import Floats
from fairsmooth.attack._ascent import Search
from fairsmooth.attack._reduction import reduce_linear
from fairsmooth.attack._regions import Box, Region, Unbounded
from fairsmooth.attack.result import AttackResult
from fairsmooth.attack.target import Target
from fairsmooth.exceptions import InputError

_DIRECTIONS = 8


@dataclass(frozen=True)
class _Effort:
    """How often inputs are tried and climbed from, how many, and how far out."""

    n_rounds: int
    n_candidates: int
    n_starts: int
    log_largest: float


_LINEAR = _Effort(n_rounds=2, n_candidates=256, n_starts=32, log_largest=14.0)
# With a hidden layer the cost of exact smoothing grows with the norm of the input.
_HIDDEN = _Effort(n_rounds=8, n_candidates=96, n_starts=16, log_largest=4.5)


def attack(
    target: Target,
    *,
    seconds: float,
    box: tuple[ArrayLike, ArrayLike] | None = None,
    random_state: int = 0,
) -> tuple[AttackResult, ...]:
    r"""Search the whole input space for the largest gap between overall and group scores.

    Maximises :math:`|N(W^*)(x) - N(W_k)(x)|` over ``x`` for every group ``k``, by
    gradient ascent from many starts through exact smoothing. A linear model is
    first reduced to the three dimensions that matter: the span of the two weight
    vectors and the norm of the rest. What is found is a gap that occurs, so the
    supremum lies between it and the certificate's bound.

    Parameters
    ----------
    target : Target
        The model, linear or with one hidden layer.
    seconds : float
        Time for all groups together; the search ends earlier when all its
        rounds are done. Given that time, the result depends on ``random_state`` alone.
    box : pair of array-like of shape (d,), optional
        Least and largest value of every feature. If given, the box is searched
        as well as the whole space.
    random_state : int
        Seeds the starts.

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
    >>> first.gap <= first.bound and not first.violates
    True
    """
    _validate.positive(seconds=seconds)
    end = time.monotonic() + seconds
    hunts = list(_hunts(target, None if box is None else _as_box(target, box)))
    for round_, (done, hunt) in product(range(_effort(target).n_rounds), enumerate(hunts)):
        now = time.monotonic()
        if now > end and round_ > 0:
            break
        # An equal share of what is left, so that slow hunts do not starve later ones.
        deadline = now + (end - now) / (len(hunts) - done)
        names = ("attack", hunt.where, hunt.position, round_)
        hunt.pursue(torch_generator(random_state, *names), deadline=deadline)
    paper_bound = target.paper_bound()
    return tuple(hunt.result(target, paper_bound) for hunt in hunts)


@dataclass
class _Hunt:
    """A search with the best input of its rounds so far."""

    where: str
    position: int
    search: Search
    basis: Tensor | None
    gap: float = -1.0
    best: Tensor | None = None

    def pursue(self, generator: torch.Generator, *, deadline: float) -> None:
        gap, best = self.search.run(generator, deadline=deadline)
        if gap > self.gap:
            self.gap, self.best = gap, best

    def result(self, target: Target, paper_bound: float) -> AttackResult:
        """Evaluate the best input again on the model itself, not on a reduced one."""
        assert self.best is not None
        x = self.search.region.inputs(self.best.unsqueeze(0))
        if self.basis is not None:
            x = x @ self.basis.T
        gap, error = target.gaps_with_error(x, self.position)
        return AttackResult(
            group=target.groups[self.position],
            where=self.where,
            gap=float(gap[0]),
            bound=target.bound(self.position),
            paper_bound=paper_bound,
            x=np.asarray(x[0].numpy()),
            tolerance=float(error[0]),
        )


def _hunts(target: Target, box: Box | None) -> Iterator[_Hunt]:
    n_features = target.network.n_features
    for position in range(len(target.groups)):
        directions = torch.as_tensor(_directions(target, position))
        basis = None
        if target.network.hidden_layer_sizes:
            free = Unbounded(n_features, _HIDDEN.log_largest)
            search = _search(target, position, free, directions)
        else:
            small, columns = reduce_linear(target, position)
            basis = torch.as_tensor(columns)
            free = Unbounded(small.network.n_features, _LINEAR.log_largest)
            search = _search(small, 0, free, directions @ basis)
        yield _Hunt("unbounded", position, search, basis)
        if box is not None:
            yield _Hunt("box", position, _search(target, position, box, directions), None)


def _effort(target: Target) -> _Effort:
    return _HIDDEN if target.network.hidden_layer_sizes else _LINEAR


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
