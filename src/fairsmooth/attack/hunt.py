"""One hunt: the worst input of one group in one region, solved or searched for."""

import time
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from fairsmooth._types import Floats
from fairsmooth.attack.ascent import Search
from fairsmooth.attack.linear import worst_linear_input
from fairsmooth.attack.result import AttackResult
from fairsmooth.attack.target import Target

# A gap this close to the certificate's bound cannot be improved worth mentioning.
_NEARLY_ALL = 1.0 - 1e-6
# How many rounds the time should allow at least, unless they would be shorter than this.
_ROUNDS, _SHORTEST = 4, 0.25


class Hunt(Protocol):
    """Something that looks for the worst input for a while, and again if it is not done."""

    done: bool

    def advance(self, generator: torch.Generator, *, deadline: float) -> None:
        """Look until the deadline, or until this round is over."""

    def result(self) -> AttackResult:
        """Return the worst input so far, evaluated on the model itself."""


@dataclass
class Solution:
    """The whole space of a linear model: solved at once, with a proof."""

    target: Target
    position: int
    done: bool = False
    seconds: float = 0.0
    x: Floats | None = None
    ceiling: float = 1.0

    def advance(self, generator: torch.Generator, *, deadline: float) -> None:
        """Solve; the deadline only keeps the proof from becoming finer."""
        begun = time.monotonic()
        self.x, self.ceiling = worst_linear_input(self.target, self.position, deadline=deadline)
        self.done = True
        self.seconds += time.monotonic() - begun

    def result(self) -> AttackResult:
        """Return the worst input with the bound that was proved for all others."""
        assert self.x is not None
        found = evaluate(self.target, self.position, "unbounded", self.x)
        ceiling = min(found.bound, self.ceiling + found.tolerance)
        return replace(found, ceiling=ceiling, seconds=self.seconds)


@dataclass
class Pursuit:
    """A search by ascent with the best input of its rounds so far."""

    where: str
    search: Search
    done: bool = False
    seconds: float = 0.0
    gap: float = -1.0
    best: Tensor | None = None

    def advance(self, generator: torch.Generator, *, deadline: float) -> None:
        """Climb from new starts, and from around the best input so far.

        A round takes a part of the time, so that later ones can start from what it has found.
        """
        begun = time.monotonic()
        left = deadline - begun
        until = begun + max(left / _ROUNDS, min(left, _SHORTEST))
        gap, best = self.search.run(generator, deadline=until, around=self.best)
        if gap > self.gap:
            self.gap, self.best = gap, best
        bound = self.search.target.bound(self.search.position)
        self.done = self.gap >= _NEARLY_ALL * bound
        self.seconds += time.monotonic() - begun

    def result(self) -> AttackResult:
        """Return the best input of all rounds."""
        assert self.best is not None
        x = self.search.region.inputs(self.best.unsqueeze(0))[0].numpy()
        found = evaluate(self.search.target, self.search.position, self.where, x)
        return replace(found, seconds=self.seconds)


def evaluate(target: Target, position: int, where: str, x: Floats) -> AttackResult:
    """Return the gap at an input beside its bounds and its numerical error."""
    gap, error = target.gaps_with_error(torch.as_tensor(x)[None], position)
    return AttackResult(
        group=target.groups[position],
        where=where,
        gap=float(gap[0]),
        bound=target.bound(position),
        paper_bound=target.paper_bound(),
        x=np.asarray(x),
        tolerance=float(error[0]),
    )
