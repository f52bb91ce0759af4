"""Float64 arithmetic that errs on the safe side.

Every function returns a number that is at least (``up``) or at most (``down``)
the exact real result for the float64 inputs, at the cost of a few units in the
last place.
"""

import math

import numpy as np
from scipy.special import ndtr, ndtri

from fairsmooth._types import Floats

_UNIT = 2.0**-53
# Relative slack for one elementary function (division, erf, square root)
# evaluated on an argument that is itself off by a few units: far above the
# documented errors, far below anything a reader would see.
_SLACK = 16 * _UNIT
_SQRT_2 = math.sqrt(2.0)
_SQRT_2PI = math.sqrt(2.0 * math.pi)


def norm_up(vector: Floats) -> float:
    """Return an upper bound on the Euclidean norm of a difference of float64 vectors.

    Scaling by a power of two is exact and keeps the squares from under- or
    overflowing. With ``m`` entries the computed sum of squares has a relative
    error below ``(m + 1)`` units; forming each difference added one more.
    """
    largest = float(np.abs(vector).max(initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    _, exponent = math.frexp(largest)
    scaled = np.ldexp(vector, -exponent)
    norm = math.sqrt(float(scaled @ scaled))
    # math.ldexp raises when the result leaves the range; infinity is the honest answer.
    with np.errstate(over="ignore"):
        bound = float(np.ldexp(norm * (1.0 + (len(vector) + 8) * _UNIT), exponent))
    # Below the normal range the relative argument fails; one step up covers it.
    return math.nextafter(bound, math.inf)


def lipschitz_up(distance: float, sigma: float, *, share: float = 1.0) -> float:
    r"""Return an upper bound on :math:`r / (\sqrt{2\pi}\sigma)`, the bound of Lemma 2.

    ``share`` multiplies the distance: :math:`(K-1)/K` in Theorem 2.
    """
    if distance == 0.0 or share == 0.0:
        return 0.0
    if sigma == 0.0:
        return math.inf
    # Dividing in two steps keeps a tiny sigma from overflowing 1 / sigma.
    bound = distance / sigma / _SQRT_2PI * share * (1.0 + _SLACK)
    return _two_up(bound)


def total_variation_up(distance: float, sigma: float) -> float:
    r"""Return an upper bound on :math:`2\Phi(r/2\sigma) - 1 = \mathrm{erf}(r/(2\sqrt2\sigma))`."""
    if distance == 0.0:
        return 0.0
    if sigma == 0.0:
        return 1.0
    bound = math.erf(distance / sigma / (2.0 * _SQRT_2)) * (1.0 + _SLACK)
    return min(1.0, _two_up(bound))


def _two_up(value: float) -> float:
    """Return the second float above: below the normal range relative slack rounds away."""
    return math.nextafter(math.nextafter(value, math.inf), math.inf)


def shifted_normal(probability: Floats, shift: float) -> tuple[Floats, Floats]:
    r"""Bound :math:`\Phi(\Phi^{-1}(p) \mp \text{shift})` from below and from above.

    The quantile is moved outward by more than the error of computing it, and
    the tails by more than the relative error of the normal distribution
    function there.
    """
    quantile = ndtri(probability)
    with np.errstate(invalid="ignore"):  # at p = 0 or 1 the quantile is infinite
        margin = 4e-15 * (1.0 + np.abs(quantile) + shift)
        low = ndtr(quantile - shift - margin) * (1.0 - 1e-11)
        high = -ndtr(-(quantile + shift + margin)) * (1.0 - 1e-11) + 1.0
    low = np.where(probability <= 0.0, 0.0, np.where(probability >= 1.0, 1.0, low))
    high = np.where(probability >= 1.0, 1.0, np.where(probability <= 0.0, 0.0, high))
    return low, np.minimum(1.0, np.nextafter(high, np.inf))
