r"""Contrasts of two rates: increasing in the first, decreasing in the second.

A gap is ``rise(q_1) - fall(q_2)``; a ratio bounded below is minus ``fall(q_2) / rise(q_1)``,
where ``q_1`` is the rate of the group in the denominator. Without a shift the radius is 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.core.contrasts.divergences import ROUNDING, TOTAL_VARIATION, Divergence

_BISECTIONS = 100


@dataclass(frozen=True)
class Contrast:
    """One contrast at one radius.

    Attributes
    ----------
    ratio : bool
        False for a gap, where a larger ``value`` is worse; True for a ratio, where
        a smaller one is.
    divergence : Divergence
        How the people of a cell may change.
    radius : float
        How far.
    """

    ratio: bool = False
    divergence: Divergence = TOTAL_VARIATION
    radius: float = 0.0

    def at(self, radius: float) -> "Contrast":
        """Return the same contrast at another radius."""
        return Contrast(self.ratio, self.divergence, radius)

    def worst(self, first: float, second: float) -> float:
        """Return the worst value for rates ``first`` and ``second``, rounded outward."""
        up = float(self.divergence.rise(np.asarray(first, dtype=np.float64), self.radius))
        down = float(self.divergence.fall(np.asarray(second, dtype=np.float64), self.radius))
        if not self.ratio:
            return min(1.0, max(0.0, up - down + 2.0 * ROUNDING))
        if up <= 0.0:  # nobody is accepted in either group: 0/0 counts as 1
            return 1.0
        return min(1.0, max(0.0, down / up * (1.0 - 4.0 * ROUNDING) - ROUNDING))

    def worst_values(self, first: Floats, second: Floats) -> Floats:
        """Return :meth:`worst` of many rates at once, which broadcast against each other.

        A bisection asks for one at a time, which is faster without arrays.
        """
        up = self.divergence.rise(first, self.radius)
        down = self.divergence.fall(second, self.radius)
        if not self.ratio:
            return np.clip(up - down + 2.0 * ROUNDING, 0.0, 1.0)
        # Nobody is accepted in either group: 0/0 counts as 1.
        up, down = np.broadcast_arrays(up, down)
        share = np.divide(down, up, out=np.full(up.shape, np.inf), where=up > 0.0)
        return np.clip(share * (1.0 - 4.0 * ROUNDING) - ROUNDING, 0.0, 1.0)

    def within(self, first: float, second: float, value: float) -> bool:
        """Tell whether the worst value is no worse than ``value``; in doubt, it is not."""
        worst = self.worst(first, second)
        return worst >= value if self.ratio else worst <= value

    def critical_first(self, second: Floats, value: float) -> Floats:
        """Return the least first rate at which the contrast is as bad as ``value``.

        Rounded down; infinite where no rate is that bad.
        """
        down = np.maximum(0.0, self.divergence.fall(second, self.radius) - ROUNDING)
        if self.ratio:
            target = down / value * (1.0 - ROUNDING) if value > 0.0 else np.inf + down
        else:
            target = down + (value - ROUNDING)
        # A rise never exceeds 1: beyond that, nothing is worse than ``value``.
        reachable = np.clip(target, 0.0, 1.0)
        least = self.divergence.rise_inverse(reachable, self.radius) - ROUNDING
        return np.where(target >= 1.0, np.inf, np.maximum(0.0, least))

    def no_worse(self, upper: Floats, lower: Floats, value: float) -> NDArray[np.intp]:
        """Return, for every upper end, where the lower ends begin that make ``value`` or better.

        ``lower`` never decreases. Rounded so that more samples count rather than fewer.
        """
        up = self.divergence.rise(upper, self.radius)
        needed = up * value if self.ratio else up - value
        fall = np.maximum.accumulate(self.divergence.fall(lower, self.radius))
        first = np.searchsorted(fall, needed - 4.0 * ROUNDING, side="left")
        # A larger first count can only need a larger second one.
        return np.minimum.accumulate(first[::-1])[::-1]

    def radius_within(self, first: float, second: float, limit: float) -> float:
        """Return the largest radius, rounded down, at which ``limit`` is kept; -1 if none."""
        if not self.at(0.0).within(first, second, limit):
            return -1.0
        low, high = 0.0, self.divergence.largest
        if self.at(high).within(first, second, limit):
            return high
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            if self.at(middle).within(first, second, limit):
                low = middle
            else:
                high = middle
        return low
