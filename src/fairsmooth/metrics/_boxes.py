"""Gaps when each group's rate is only known to lie in an interval."""

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats


def smallest_gap(low: Floats, high: Floats) -> Floats:
    """Return the least possible gap, along the last axis; NaN rates are left out."""
    undefined = np.isnan(low)
    highest_low = np.where(undefined, -np.inf, low).max(axis=-1)
    lowest_high = np.where(undefined, np.inf, high).min(axis=-1)
    return _where_two(undefined, highest_low - lowest_high)


def largest_gap(low: Floats, high: Floats) -> Floats:
    """Return the largest possible gap, along the last axis; NaN rates are left out."""
    undefined = np.isnan(low)
    above = np.where(undefined, -np.inf, high)
    below = np.where(undefined, np.inf, low)
    differences = above[..., :, None] - below[..., None, :]
    same = np.eye(low.shape[-1], dtype=bool)
    return _where_two(undefined, np.where(same, -np.inf, differences).max(axis=(-2, -1)))


def _where_two(undefined: NDArray[np.bool_], gap: Floats) -> Floats:
    enough = (~undefined).sum(axis=-1) > 1
    return np.where(enough, np.maximum(gap, 0.0), np.nan)
