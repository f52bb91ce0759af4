r"""The normal distribution function and its inverse from operations that ONNX has in float64.

ONNX runtimes have the error function in float32 only, which is off by 3e-8. Sines they
have in float64, and by Gil-Pelaez

.. math:: \Phi(x) = \tfrac12 + \tfrac1\pi \int_0^\infty \frac{\sin tx}{t} e^{-t^2/2}\,dt .

The midpoint rule with step :math:`\pi/R` is off by at most
:math:`\sum_j \Phi(-(2j-1)R)` for :math:`|x| \le R` (Poisson summation), which is 3.3e-14
for ``R = 7.5``; leaving out what lies beyond 18 nodes adds 2e-15, and taking ``R`` for any
larger ``x`` 3.2e-14.
"""

import math
from functools import cache

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import ndtri_exp

from fairsmooth._types import Floats

# Beyond it the distribution function counts as 0 or 1.
RANGE = 7.5
N_WAVES = 18
# More than the error of the sum of waves, rounding of sines and sums included.
WAVES_ERROR = 1e-12

# The inverse is a polynomial in t in [-1, 1], where t is linear in sqrt(LIFT - log 2p), for
# LEAST <= p <= 1/2. The square root takes away the growth at 0, the lift its kink at 1/2.
LEAST = 1e-12
LIFT = 0.5
DEGREE = 23
# More than the largest error of the polynomial; a test proves it with ball arithmetic.
INVERSE_ERROR = 1e-9


def waves() -> tuple[Floats, Floats]:
    """Return frequencies and amplitudes of the waves that make up the distribution function.

    Examples
    --------
    >>> frequencies, amplitudes = waves()
    >>> float(0.5 + amplitudes @ np.sin(1.0 * frequencies))
    0.84134474606...
    """
    middles = np.arange(N_WAVES) + 0.5
    frequencies = middles * (math.pi / RANGE)
    amplitudes = np.exp(-0.5 * frequencies**2) / (math.pi * middles)
    return np.asarray(frequencies, dtype=np.float64), np.asarray(amplitudes, dtype=np.float64)


def linear_map() -> tuple[float, float]:
    """Return slope and start of ``t = slope * root + start``, root from sqrt(LIFT) to its most."""
    low, high = math.sqrt(LIFT), math.sqrt(LIFT - math.log(2.0 * LEAST))
    slope = 2.0 / (high - low)
    return slope, -1.0 - slope * low


@cache
def inverse_polynomial() -> Floats:
    """Return the coefficients of the quantile of ``1 - p`` in ``t``, lowest degree first."""
    slope, start = linear_map()

    def quantile(t: Floats) -> Floats:
        lifted = ((t - start) / slope) ** 2
        return np.asarray(-ndtri_exp(LIFT - lifted - math.log(2.0)))

    fitted = Chebyshev.interpolate(quantile, DEGREE)
    return np.asarray(fitted.convert(kind=Polynomial).coef)
