"""Rates as weighted averages, and gaps as their ranges: what all curves are made of."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairsmooth._types import Floats

Codes = NDArray[np.integer]

RATES = ("selection_rate", "true_positive_rate", "false_positive_rate", "error_rate")
GAPS = ("demographic_parity", "equalized_odds_sum", "equalized_odds_max")


def rate_parts(scores: ArrayLike, y: Codes) -> dict[str, tuple[Floats, NDArray[np.bool_]]]:
    """Return, for every rate, the value averaged and the rows it is averaged over.

    A score is the probability of a positive decision, so a decision is a score
    of 0 or 1 and the same four lines serve both.
    """
    value = np.asarray(scores, dtype=np.float64)
    everyone = np.ones(len(y), dtype=bool)
    return {
        "selection_rate": (value, everyone),
        "true_positive_rate": (value, y == 1),
        "false_positive_rate": (value, y == 0),
        "error_rate": (np.abs(value - y), everyone),
    }


def group_samples(
    value: Floats, rows: NDArray[np.bool_], *, codes: Codes, n_groups: int
) -> list[Floats]:
    """Return the averaged values of each group."""
    return [value[rows & (codes == code)] for code in range(n_groups)]


def means_of(samples: list[Floats]) -> Floats:
    """Return the mean of each sample; NaN for an empty one."""
    return np.array([sample.mean() if len(sample) else np.nan for sample in samples])


def rate_range(rates: ArrayLike) -> Floats:
    """Return largest minus smallest rate along the last axis, over the defined ones.

    NaN where fewer than two are defined.
    """
    values = np.asarray(rates, dtype=np.float64)
    undefined = np.isnan(values)
    highest = np.where(undefined, -np.inf, values).max(axis=-1)
    lowest = np.where(undefined, np.inf, values).min(axis=-1)
    enough = (~undefined).sum(axis=-1) > 1
    # Where nothing is defined the difference is infinite, and is not taken.
    gaps = np.full(highest.shape, np.nan)
    np.subtract(highest, lowest, out=gaps, where=enough)
    return gaps


def gaps_of(
    selection: ArrayLike, true_positive: ArrayLike, false_positive: ArrayLike
) -> dict[str, Floats]:
    """Return the three gaps from the rates of the groups, along the last axis."""
    return named_gaps(rate_range(selection), rate_range(true_positive), rate_range(false_positive))


def named_gaps(
    selection: Floats, true_positive: Floats, false_positive: Floats
) -> dict[str, Floats]:
    """Return the three gaps from the gaps of single rates."""
    parts = (selection, true_positive + false_positive, np.maximum(true_positive, false_positive))
    return dict(zip(GAPS, parts, strict=True))
