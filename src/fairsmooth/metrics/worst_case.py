"""The worst average over all reweightings of a sample within a ball, solved by its dual."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from fairsmooth import _validate
from fairsmooth._types import Floats
from fairsmooth.exceptions import InputError

# Logarithms of the multiplier's distance to the largest value, in units of the range.
_NEAREST, _FARTHEST = -80.0, 12.0
_NEGLIGIBLE = 1e-100


def largest_mean(values: ArrayLike, *, ball: str, radii: Sequence[float]) -> Floats:
    r"""Return the largest weighted mean of the values, for each radius of a ball.

    The weights :math:`w` are any distribution on the sample within the radius
    :math:`\rho` of the uniform one, :math:`u`:

    - ``ball="chi_square"``: :math:`\sum_i (w_i - u_i)^2/u_i \le \rho`. By duality

      .. math:: \max_w \sum_i w_i v_i
                = \min_\eta\ \eta + \sqrt{(1+\rho) \sum_i u_i (v_i - \eta)_+^2};

    - ``ball="hellinger"``: :math:`1 - \sum_i \sqrt{w_i u_i} \le \rho^2`, so
      :math:`0 \le \rho \le 1`. By duality, with :math:`c = 1 - \rho^2`,

      .. math:: \max_w \sum_i w_i v_i
                = \min_{\lambda > \max v}\ \lambda - c^2 \Big/ \sum_i \frac{u_i}{\lambda - v_i}.

    Both are convex in one variable. The first is solved in closed form on the
    piece that holds the minimum, the second by root finding; since every value
    of the dual variable gives an upper bound, what is returned is never below
    the maximum but for rounding.

    Parameters
    ----------
    values : array-like of shape (n,)
        At least one, all finite.
    ball : {"chi_square", "hellinger"}
        Which divergence measures the shift.
    radii : sequence of float
        Radii of the ball.

    Returns
    -------
    ndarray of shape (len(radii),)

    References
    ----------
    Duchi and Namkoong (2021) for the chi-square dual; Kang et al. (2022) for
    Hellinger balls as a model of shift. No counterpart in the paper.

    Examples
    --------
    >>> largest_mean([0.0, 1.0], ball="chi_square", radii=[0.0, 0.25, 1.0])
    array([0.5 , 0.75, 1.  ])
    """
    _validate.one_of(tuple(BALLS), ball=ball)
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not len(sample) or not np.isfinite(sample).all():
        raise InputError("Expected one or more finite values, got none, NaN or infinity.")
    for radius in radii:
        _validate.non_negative(radius=radius)
    if ball == "hellinger":
        _validate.in_range(0.0, 1.0, radius=max(radii, default=0.0))
    # Squares of smaller distances would underflow; moving them so little changes nothing.
    sample = np.where(sample.max() - sample < _NEGLIGIBLE, sample.max(), sample)
    atoms, counts = np.unique(sample, return_counts=True)
    # Distances below the largest value, the largest value itself first.
    below, masses = (atoms[-1] - atoms)[::-1], counts[::-1] / len(sample)
    return float(atoms[-1]) - BALLS[ball](below, masses, np.asarray(radii, dtype=np.float64))


def smallest_mean(values: ArrayLike, *, ball: str, radii: Sequence[float]) -> Floats:
    """Return the smallest weighted mean, as :func:`largest_mean` does the largest."""
    return -largest_mean(-np.asarray(values, dtype=np.float64), ball=ball, radii=radii)


def _chi_square(below: Floats, masses: Floats, radii: Floats) -> Floats:
    """Return the least mean of ``below``, whose entries ascend from 0."""
    mass, first = np.cumsum(masses), np.cumsum(masses * below)
    second = np.cumsum(masses * below**2)
    # Second over squared first moment of (b_{j+1} - b)_+ falls as more atoms take part.
    cut = below[1:]
    moment = mass[:-1] * cut - first[:-1]
    ratios = (mass[:-1] * cut**2 - 2.0 * first[:-1] * cut + second[:-1]) / moment**2
    found = []
    for scale in 1.0 + radii:
        if scale * masses[0] >= 1.0:
            found.append(0.0)
            continue
        taking_part = int(np.searchsorted(-ratios, -scale)) + 1
        weights, points = masses[:taking_part], below[:taking_part]
        total = weights.sum()
        center = weights @ points / total
        spread = weights @ (points - center) ** 2
        found.append(center - np.sqrt(spread * max(scale * total - 1.0, 0.0) / total))
    return np.array(found)


def _hellinger(below: Floats, masses: Floats, radii: Floats) -> Floats:
    """Return the least mean of ``below``, whose entries ascend from 0."""
    width = below[-1]
    found = []
    for overlap in 1.0 - radii**2:
        if width == 0.0 or overlap**2 <= masses[0]:
            found.append(0.0)
        elif overlap == 1.0:
            found.append(float(masses @ below))
        else:
            multiplier = _multiplier(below / width, masses, overlap)
            reach = masses @ (1.0 / (multiplier + below / width))
            found.append(width * (overlap**2 / reach - multiplier))
    return np.array(found)


def _multiplier(below: Floats, masses: Floats, overlap: float) -> float:
    def excess(logarithm: float) -> float:
        inverse = 1.0 / (np.exp(logarithm) + below)
        # Scaled by the largest entry, so that its square cannot overflow.
        inverse /= inverse[0]
        return float((masses @ inverse) ** 2 / (masses @ inverse**2) - overlap**2)

    # Far from the values the equation is solved by this, which is where to look first.
    spread = np.sqrt(masses @ below**2 - (masses @ below) ** 2)
    guess = float(np.log(spread * overlap / np.sqrt(1.0 - overlap**2)))
    low, high = guess - 2.0, min(guess + 1.0, _FARTHEST)
    while excess(low) > 0.0 and low > _NEAREST:
        low -= 6.0
    while excess(high) <= 0.0:
        if high >= _FARTHEST:
            return float(np.exp(_FARTHEST))
        high = min(high + 3.0, _FARTHEST)
    if excess(low) > 0.0:
        return float(np.exp(low))
    # The dual is flat at its minimum: an error in the root enters squared.
    return float(np.exp(brentq(excess, low, high, xtol=1e-8)))


BALLS = {"chi_square": _chi_square, "hellinger": _hellinger}
