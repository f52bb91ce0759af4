"""What is known about the rates of the cells that one quantity compares."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Protocol

from fairsmooth._types import Floats
from fairsmooth.core import contrasts
from fairsmooth.core.contrasts import Contrast

# Far above the rounding of a mean, a variance and the solved bounds; see ScoreCells.ends.
_OUTWARD = 1e-9


class Cells(Protocol):
    """The cells of all groups with one label: rates, and what can be proved about them."""

    @property
    def rates(self) -> list[float]:
        """Measured rates; empty cells must not be asked."""

    @property
    def empty(self) -> bool:
        """Whether some group has no row here."""

    def ends(self, error: float) -> list[tuple[float, float]]:
        """Return intervals, each end of which fails with probability at most ``error``."""

    def bound(self, contrast: Contrast, error: float) -> float:
        """Bound the worst contrast of any two groups."""

    def radius(self, contrast: Contrast, limit: float, error: float) -> float:
        """Bound from below the radius within which ``limit`` is kept."""


@dataclass(frozen=True)
class DecisionCells:
    """Counts of positive decisions: exact bounds."""

    counts: tuple[contrasts.Count, ...]

    @property
    def rates(self) -> list[float]:
        """Measured rates."""
        return [positive / rows for positive, rows in self.counts]

    @property
    def empty(self) -> bool:
        """Whether some group has no row here."""
        return any(rows == 0 for _, rows in self.counts)

    def ends(self, error: float) -> list[tuple[float, float]]:
        """Return Clopper-Pearson intervals."""
        return [contrasts.interval(x, n, error=error) for x, n in self.counts]

    def bound(self, contrast: Contrast, error: float) -> float:
        """Bound the worst contrast by the exact algorithm."""
        return contrasts.bound(self.counts, contrast, error=error)

    def radius(self, contrast: Contrast, limit: float, error: float) -> float:
        """Bound the radius by the exact algorithm."""
        return contrasts.radius(self.counts, contrast, limit, error=error)


@dataclass(frozen=True)
class ScoreCells:
    """Scores in [0, 1]: boxes from bounds on means that do not depend on the order of rows."""

    samples: tuple[Floats, ...]

    @property
    def rates(self) -> list[float]:
        """Mean scores."""
        return [float(sample.mean()) for sample in self.samples]

    @property
    def empty(self) -> bool:
        """Whether some group has no row here."""
        return any(len(sample) == 0 for sample in self.samples)

    def ends(self, error: float) -> list[tuple[float, float]]:
        """Return the audit's finite-sample intervals of means, moved outward by 1e-9."""
        # Only scores need them, and their room loads far more than decisions should wait for.
        from fairsmooth.metrics.intervals import bounded_mean_interval

        found = [bounded_mean_interval(sample, error=error) for sample in self.samples]
        return [(max(0.0, a - _OUTWARD), min(1.0, b + _OUTWARD)) for a, b in found]

    def bound(self, contrast: Contrast, error: float) -> float:
        """Bound the worst contrast by boxes, half the error for each end."""
        values = [contrast.worst(a[1], b[0]) for a, b in permutations(self.ends(error / 2.0), 2)]
        return min(values) if contrast.ratio else max(values)

    def radius(self, contrast: Contrast, limit: float, error: float) -> float:
        """Bound the radius by boxes, half the error for each end."""
        pairs = permutations(self.ends(error / 2.0), 2)
        return max(0.0, min(contrast.radius_within(a[1], b[0], limit) for a, b in pairs))


def summed_radius(
    families: Sequence[Cells], contrast: Contrast, limit: float, error: float
) -> float:
    """Bound the radius within which the sum of several gaps keeps a limit, by boxes.

    The sum of gaps compares four cells at once. Boxes hold at every radius at once,
    and what they prove is monotone in the radius, so the radius may be bisected.
    """
    share = error / len(families) / 2.0
    families_ends = [cells.ends(share) for cells in families]

    def proved(radius: float) -> bool:
        moved = contrast.at(radius)
        gaps = [
            max(moved.worst(a[1], b[0]) for a, b in permutations(ends, 2)) for ends in families_ends
        ]
        return sum(gaps) * (1.0 + 1e-15) <= limit

    low, high = 0.0, contrast.divergence.largest
    if not proved(0.0):
        return 0.0
    if proved(high):
        return high
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if proved(middle) else (low, middle)
    return low
