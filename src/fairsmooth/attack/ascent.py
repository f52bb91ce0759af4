"""Gradient ascent on the gap from many starts at once."""

import time
from dataclasses import dataclass

import torch
from torch import Tensor

from fairsmooth.attack.regions import Region
from fairsmooth.attack.target import Target

STEPS = 160
_RATE = 0.15
_CHUNK = 32
# The share of a round in which candidates are tried, the steps that a climb should have,
# and what a gap with its gradient costs, in gaps.
_TRYING = 0.4
_STEPS_AT_LEAST = 10
_GRADIENT = 3.0
# How many candidates lie around the best input so far, and how far: over orders of magnitude.
_AROUND = 32
_LOG_NEAREST = -7.0


@dataclass(frozen=True)
class Search:
    """One hunt: a target, a group, a region, and directions worth starting from."""

    target: Target
    position: int
    region: Region
    directions: Tensor
    n_candidates: int
    n_starts: int

    def run(
        self, generator: torch.Generator, *, deadline: float, around: Tensor | None = None
    ) -> tuple[float, Tensor]:
        """Return the largest gap found and its coordinates, in time.

        ``around`` gives coordinates near which it starts as well.
        """
        coordinates = self.starts(self.candidates(generator, around), deadline)
        climb = Climb(coordinates)
        best_gap, best = -1.0, coordinates[0]
        for step in range(STEPS):
            coordinates.requires_grad_()
            gaps = self.target.gaps(self.region.inputs(coordinates), self.position)
            highest = gaps.detach().max(dim=0)
            if float(highest.values) > best_gap:
                best_gap, best = float(highest.values), coordinates.detach()[highest.indices]
            if time.monotonic() > deadline:
                break
            # Each row climbs the logarithm of its gap: tiny gaps have tiny gradients.
            objective = gaps.clamp_min(torch.finfo(gaps.dtype).tiny).log().sum()
            (gradient,) = torch.autograd.grad(objective, coordinates)
            move = climb.move(gradient, rate=_RATE * (1.0 - step / STEPS))
            coordinates = self.region.project(coordinates.detach() + move)
        return best_gap, best

    def candidates(self, generator: torch.Generator, around: Tensor | None) -> Tensor:
        """Return coordinates along the directions, at random, and around a good place.

        Inputs of about unit length come first, in case that time does not suffice for all:
        long ones cost most, and short ones are all alike.
        """
        found = [
            self.region.along(self.directions, generator),
            self.region.random(self.n_candidates, generator),
        ]
        if around is not None:
            shape = (_AROUND, len(around))
            logs = _LOG_NEAREST * torch.rand(_AROUND, 1, generator=generator)
            moves = logs.exp() * torch.randn(shape, generator=generator)
            found.insert(0, self.region.project(around + moves.double()))
        candidates = torch.cat(found)
        lengths = self.region.inputs(candidates).norm(dim=1)
        return candidates[lengths.log().abs().argsort(stable=True)]

    def starts(self, candidates: Tensor, deadline: float) -> Tensor:
        """Return the best of many candidates: where both scores saturate nothing can climb.

        As many as fit in a share of the time, and only so many that their climb makes steps.
        """
        begun = time.monotonic()
        enough = begun + _TRYING * (deadline - begun)
        gaps: list[Tensor] = []
        size, tried = 1, 0
        while tried < len(candidates) and (tried == 0 or time.monotonic() < enough):
            rows = candidates[tried : tried + size]
            with torch.no_grad():
                gaps.append(self.target.gaps(self.region.inputs(rows), self.position))
            tried += len(rows)
            # Small at first: a row may take a millisecond or a second.
            if time.monotonic() - begun < (enough - begun) / 4.0:
                size = min(2 * size, _CHUNK)
        cost = (time.monotonic() - begun) / tried
        affordable = (deadline - time.monotonic()) / (_STEPS_AT_LEAST * _GRADIENT * cost)
        n_starts = max(1, min(self.n_starts, tried, int(min(affordable, self.n_starts))))
        return candidates[torch.cat(gaps).topk(n_starts).indices]


class Climb:
    """Adam's rule, uphill; the one in torch.optim takes seconds to import."""

    def __init__(self, like: Tensor) -> None:
        self._first = torch.zeros_like(like)
        self._second = torch.zeros_like(like)
        self._count = 0

    def move(self, gradient: Tensor, *, rate: float) -> Tensor:
        """Return the next step for a gradient."""
        self._count += 1
        self._first = 0.9 * self._first + 0.1 * gradient
        self._second = 0.99 * self._second + 0.01 * gradient.square()
        first = self._first / (1.0 - 0.9**self._count)
        second = self._second / (1.0 - 0.99**self._count)
        return rate * first / (second.sqrt() + 1e-12)
