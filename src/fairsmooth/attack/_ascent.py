"""Gradient ascent on the gap from many starts at once."""

import time
from dataclasses import dataclass

import torch
from torch import Tensor

from fairsmooth.attack._regions import Region
from fairsmooth.attack.target import Target

_STEPS = 160
_CHUNK = 32
_RATE = 0.15


@dataclass(frozen=True)
class Search:
    """One hunt: a target, a group, a region, and directions worth starting from."""

    target: Target
    position: int
    region: Region
    directions: Tensor
    n_candidates: int
    n_starts: int

    def run(self, generator: torch.Generator, *, deadline: float) -> tuple[float, Tensor]:
        """Return the largest gap found and its coordinates, in time."""
        coordinates = self._starts(generator, deadline)
        best_gap, best = -1.0, coordinates[0]
        optimizer = torch.optim.Adam([coordinates], lr=_RATE)
        for step in range(_STEPS):
            optimizer.param_groups[0]["lr"] = _RATE * (1.0 - step / _STEPS)
            optimizer.zero_grad()
            gaps = self.target.gaps(self.region.inputs(coordinates), self.position)
            highest = gaps.detach().max(dim=0)
            if float(highest.values) > best_gap:
                best_gap, best = (
                    float(highest.values),
                    coordinates.detach()[highest.indices].clone(),
                )
            if time.monotonic() > deadline:
                break
            # Gaps can be tiny; Adam's step does not depend on their scale, its epsilon would.
            (-gaps.sum() / highest.values.clamp_min(1e-300)).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            with torch.no_grad():
                coordinates.copy_(self.region.project(coordinates))
        return best_gap, best

    def _starts(self, generator: torch.Generator, deadline: float) -> Tensor:
        """Return the best of many candidates: where both scores saturate nothing can climb."""
        candidates = torch.cat(
            [
                self.region.along(self.directions, generator),
                self.region.random(self.n_candidates, generator),
            ]
        )
        gaps = []
        for rows in candidates.split(_CHUNK):
            with torch.no_grad():
                gaps.append(self.target.gaps(self.region.inputs(rows), self.position))
            if time.monotonic() > deadline:
                break
        best = torch.cat(gaps).topk(min(self.n_starts, _CHUNK)).indices
        return candidates[best].requires_grad_()
