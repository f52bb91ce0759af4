"""Where inputs are looked for: free coordinates, and the inputs they stand for."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

_LOG_LEAST = -5.0


class Region(Protocol):
    """A set of inputs, searched through coordinates."""

    def random(self, n_rows: int, generator: torch.Generator) -> Tensor:
        """Return coordinates of random inputs."""

    def along(self, directions: Tensor, generator: torch.Generator) -> Tensor:
        """Return coordinates of inputs that point along given directions."""

    def inputs(self, coordinates: Tensor) -> Tensor:
        """Return the inputs that the coordinates stand for."""

    def project(self, coordinates: Tensor) -> Tensor:
        """Move coordinates that a step has carried outside back inside."""


@dataclass(frozen=True)
class Unbounded:
    """All of ``R^d``, as a direction ``(d,)`` and the logarithm of the norm, last.

    The supremum of a gap may lie at infinity. The gap approaches it like the
    inverse of the norm, so norms up to ``exp(log_largest)`` come near it.
    """

    n_features: int
    log_largest: float

    def random(self, n_rows: int, generator: torch.Generator) -> Tensor:
        """Return random directions with norms over all orders of magnitude."""
        directions = torch.randn(n_rows, self.n_features, generator=generator).double()
        return self.along(directions, generator)

    def along(self, directions: Tensor, generator: torch.Generator) -> Tensor:
        """Return the directions with random norms."""
        share = torch.rand(len(directions), 1, generator=generator).double()
        return self.project(
            torch.cat([directions, _LOG_LEAST + share * (self.log_largest - _LOG_LEAST)], 1)
        )

    def inputs(self, coordinates: Tensor) -> Tensor:
        """Return the direction times the norm."""
        directions = torch.nn.functional.normalize(coordinates[:, :-1], dim=1)
        return directions * coordinates[:, -1:].exp()

    def project(self, coordinates: Tensor) -> Tensor:
        """Keep the direction at unit length and the norm in range."""
        directions = torch.nn.functional.normalize(coordinates[:, :-1], dim=1)
        norms = coordinates[:, -1:].clamp(_LOG_LEAST, self.log_largest)
        return torch.cat([directions, norms], 1)


@dataclass(frozen=True, eq=False)
class Box:
    """All inputs between ``low`` and ``high``; coordinates run from 0 to 1."""

    low: Tensor
    high: Tensor

    def random(self, n_rows: int, generator: torch.Generator) -> Tensor:
        """Return random points, half of them corners."""
        points = torch.rand(n_rows, len(self.low), generator=generator).double()
        corners = torch.arange(n_rows).unsqueeze(1) % 2 == 0
        return torch.where(corners, points.round(), points)

    def along(self, directions: Tensor, generator: torch.Generator) -> Tensor:
        """Return the corners that lie farthest along the directions."""
        return (directions > 0).double()

    def inputs(self, coordinates: Tensor) -> Tensor:
        """Stretch the unit cube to the box."""
        # Written so that coordinates 0 and 1 give low and high without rounding.
        return self.low * (1.0 - coordinates) + self.high * coordinates

    def project(self, coordinates: Tensor) -> Tensor:
        """Clip to the unit cube."""
        return coordinates.clamp(0.0, 1.0)
