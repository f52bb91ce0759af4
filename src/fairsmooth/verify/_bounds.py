r"""Comparing a float64 number with a real bound, rigorously.

A bound is enclosed in a ball of arbitrary precision (Arb), whose error is part
of the result. While ball and number overlap, the precision is doubled. That
ends. A distance that equals a float64 has a square of at most 106 bits, so that
its ball is exact from the start; and :math:`r/(\sqrt{2\pi}\sigma)` and
:math:`\mathrm{erf}(r/(2\sqrt2\sigma))` are transcendental for algebraic
:math:`r/\sigma > 0`, so no float64 equals them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

_FIRST_PRECISION = 128
_LAST_PRECISION = 2**16
_DIGITS = 20


@dataclass(frozen=True)
class Bound:
    """A real bound as a function of an exact squared distance and of sigma.

    ``ceiling`` is a value that the bound never exceeds, for any distance; it is
    also the bound of two different points with ``sigma = 0``.
    """

    enclose: Callable[[Fraction, float], arb]
    ceiling: float = math.inf
    needs_sigma: bool = True

    def admits(self, number: float, squared: Fraction, *, sigma: float) -> bool:
        """Tell whether ``number`` is at least the bound; in doubt, it is not."""
        if squared == 0 or number >= self.ceiling:
            return number >= 0.0
        if self.needs_sigma and sigma == 0.0:
            return False
        precision = _FIRST_PRECISION
        while precision <= _LAST_PRECISION:
            with ctx.workprec(precision):
                ball = self.enclose(squared, sigma)
                # Comparisons of balls are true only if they hold for every point.
                if ball <= number or ball > number:
                    return bool(ball <= number)
            precision *= 2
        return False

    def text(self, squared: Fraction, *, sigma: float) -> str:
        """Write the bound with more digits than a float64 has."""
        if self.needs_sigma and sigma == 0.0 and squared > 0:
            return str(self.ceiling)
        if squared == 0:
            return "0"
        with ctx.workprec(_FIRST_PRECISION):
            return str(self.enclose(squared, sigma).str(_DIGITS, radius=False))


def _distance(squared: Fraction, _sigma: float) -> arb:
    return (arb(squared.numerator) / arb(squared.denominator)).sqrt()


def _lipschitz(squared: Fraction, sigma: float) -> arb:
    return _distance(squared, sigma) / (arb(sigma) * (2 * arb.pi()).sqrt())


def _total_variation(squared: Fraction, sigma: float) -> arb:
    return (_distance(squared, sigma) / (arb(sigma) * arb(8).sqrt())).erf()


DISTANCE = Bound(_distance, needs_sigma=False)
LIPSCHITZ = Bound(_lipschitz)
TOTAL_VARIATION = Bound(_total_variation, ceiling=1.0)
