"""Distances between float64 vectors in exact integers.

Every finite float64 is a whole number times a power of two. With one common
power, differences, squares and sums are whole numbers, so nothing is rounded
and nothing can over- or underflow.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from fairsmooth.verify._model_file import Floats

_MANTISSA_BITS = 53
_LEAST_EXPONENT = -1074


@dataclass(frozen=True)
class Geometry:
    """Exact squared distances, and whether the overall parameters are the mean."""

    squared_radii: tuple[Fraction, ...]
    squared_max_distance: Fraction
    is_mean: bool


def measure(group_parameters: Floats, parameters: Floats) -> Geometry:
    """Measure finite ``(K, m)`` group parameters against the overall ``(m,)`` ones."""
    wholes, exponent = _whole_numbers(np.vstack([group_parameters, parameters]))
    n_groups, n_parameters = group_parameters.shape
    rows = fmpz_mat(n_groups + 1, n_parameters, wholes.ravel().tolist())
    gram = rows * rows.transpose()
    unit = Fraction(2) ** (2 * exponent)
    square = [
        [int(gram[i, i] + gram[j, j] - 2 * gram[i, j]) for j in range(i)]
        for i in range(n_groups + 1)
    ]
    return Geometry(
        squared_radii=tuple(value * unit for value in square[n_groups]),
        squared_max_distance=max((v for row in square[:n_groups] for v in row), default=0) * unit,
        is_mean=_is_mean(wholes, exponent),
    )


def _whole_numbers(values: Floats) -> tuple[NDArray[np.object_], int]:
    """Write every value as ``whole * 2**exponent`` with one exponent for all."""
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, _MANTISSA_BITS).astype(np.int64)
    used = mantissas != 0
    exponent = int(exponents[used].min()) if used.any() else 0
    shifts = np.where(used, exponents - exponent, 0)
    wholes = mantissas.astype(object) << shifts.astype(object)
    return wholes, exponent - _MANTISSA_BITS


def _is_mean(wholes: NDArray[np.object_], exponent: int) -> bool:
    """Tell whether the last row is the mean of the others within rounding.

    Averaging K numbers in float64, in any order and also as offsets from one
    of them, is off by at most 2K + 8 half units in the last place of the largest
    one, and by the smallest float64 where that is larger.
    """
    groups, overall = wholes[:-1], wholes[-1]
    n_groups = len(groups)
    error = np.abs(n_groups * overall - groups.sum(axis=0))
    relative = n_groups * (2 * n_groups + 8) * np.abs(groups).max(axis=0)
    shift = _LEAST_EXPONENT - exponent
    least = n_groups << shift if shift >= 0 else n_groups >> -shift
    return bool(np.all(error * 2**_MANTISSA_BITS <= relative + least * 2**_MANTISSA_BITS))
