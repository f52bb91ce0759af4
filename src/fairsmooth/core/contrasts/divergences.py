r"""How far a rate can move when the people of a cell change a little.

A cell's people follow ``Q`` instead of ``P``, and a divergence ``D(Q, P)`` is at
most :math:`\rho`. A decision is a function of the row, so by data processing the two Bernoulli
laws of the decision are as close, and moving mass between the accepted and the refused attains
it: the largest and least new rates are functions of the old rate, ``rise`` and ``fall``, with
:math:`\text{fall}(q) = 1 - \text{rise}(1 - q)`. Both increase in ``q``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairsmooth._types import Floats

Moved = Callable[[Floats, float], Floats]

# The functions below are a handful of elementary operations on numbers in [0, 1]:
# a few 1e-16 off. Far above that, far below what a reader would see.
ROUNDING = 1e-14


@dataclass(frozen=True)
class Divergence:
    r"""A ball of distributions, seen by one rate.

    Attributes
    ----------
    name : str
        As users spell it.
    rise, fall : callable
        Largest and least rate in the ball of radius :math:`\rho` around rate ``q``.
    rise_inverse : callable
        The least ``q`` with ``rise(q, rho) >= y``, for ``y`` in [0, 1].
    largest : float
        Radius beyond which nothing is reported: the divergence ends there, or nobody asks.
    """

    name: str
    rise: Moved
    fall: Moved
    rise_inverse: Moved
    largest: float


def _angle(q: Floats) -> Floats:
    # atan2 keeps its digits near 0 and near 1, where arcsin(sqrt(q)) loses half of them.
    return np.arctan2(np.sqrt(q), np.sqrt(1.0 - q))


def _turn(radius: float) -> float:
    """Return arccos(1 - radius²), without the cancellation."""
    return float(2.0 * np.arcsin(radius / np.sqrt(2.0)))


def _hellinger_rise(q: Floats, radius: float) -> Floats:
    return np.sin(np.minimum(np.pi / 2.0, _angle(q) + _turn(radius))) ** 2


def _hellinger_fall(q: Floats, radius: float) -> Floats:
    return np.sin(np.maximum(0.0, _angle(q) - _turn(radius))) ** 2


def _chi_square_rise(q: Floats, radius: float) -> Floats:
    return np.minimum(1.0, q + np.sqrt(radius * q * (1.0 - q)))


def _chi_square_fall(q: Floats, radius: float) -> Floats:
    return np.maximum(0.0, q - np.sqrt(radius * q * (1.0 - q)))


def _chi_square_inverse(y: Floats, radius: float) -> Floats:
    # The smaller root of (1 + ρ) q² - (2y + ρ) q + y² = 0, without cancellation.
    root = np.sqrt(radius**2 + 4.0 * radius * y * (1.0 - y))
    return 2.0 * y**2 / np.maximum(2.0 * y + radius + root, 1e-300)


TOTAL_VARIATION = Divergence(
    "total_variation",
    rise=lambda q, radius: np.minimum(1.0, q + radius),
    fall=lambda q, radius: np.maximum(0.0, q - radius),
    rise_inverse=lambda y, radius: np.maximum(0.0, y - radius),
    largest=1.0,
)
HELLINGER = Divergence(
    "hellinger",
    rise=_hellinger_rise,
    fall=_hellinger_fall,
    rise_inverse=_hellinger_fall,
    largest=1.0,
)
CHI_SQUARE = Divergence(
    "chi_square",
    rise=_chi_square_rise,
    fall=_chi_square_fall,
    rise_inverse=_chi_square_inverse,
    largest=1e6,
)
DENSITY_RATIO = Divergence(
    "density_ratio",
    rise=lambda q, radius: np.minimum(1.0, (1.0 + radius) * q),
    fall=lambda q, radius: np.maximum(0.0, q - radius * (1.0 - q)),
    rise_inverse=lambda y, radius: y / (1.0 + radius),
    largest=1e6,
)
DIVERGENCES = {
    divergence.name: divergence
    for divergence in (TOTAL_VARIATION, HELLINGER, CHI_SQUARE, DENSITY_RATIO)
}
