"""Weights of rows, in units in which they can be added up."""

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.exceptions import InputError

# Squares of weights this far apart, and sums of any number of them, are ordinary float64.
_FARTHEST = 1e100


def comparable(weights: Floats) -> Floats:
    """Return weights, not all 0, in units of a power of 2 near the largest.

    Only their ratios count, but a sum of weights near 1e308 is infinite, and one over a sum of
    weights near 1e-310 is. Multiplying by a power of 2 changes no digit of a ratio.

    Examples
    --------
    >>> comparable(np.array([4.0, 1.0, 0.0])).tolist()
    [0.5, 0.125, 0.0]
    """
    largest = float(weights.max())
    least = float(weights[weights > 0.0].min())
    if largest * (1.0 / _FARTHEST) > least:
        raise InputError(
            f"Expected positive values of sample_weight within a factor of {_FARTHEST:g} of each "
            f"other, got {least:g} and {largest:g}. Give rows that count for nothing the weight 0."
        )
    return np.ldexp(weights, -int(np.frexp(largest)[1]))
