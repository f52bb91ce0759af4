"""One decision threshold for everybody, chosen on held-out rows."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth.exceptions import InputError

RATE = "rate:"


def wanted_rate(text: str) -> float:
    """Read the share of rows to decide positive from ``rate:0.2``."""
    try:
        rate = float(text.removeprefix(RATE))
    except ValueError:
        rate = math.nan
    if not text.startswith(RATE) or not 0.0 < rate < 1.0:
        raise InputError(
            "Expected threshold to be a number, 'accuracy', or 'rate:' and a share between 0 and 1 "
            f"such as 'rate:0.2', got threshold={text!r}."
        )
    return rate


def threshold_at_rate(scores: NDArray[np.float64], rate: float) -> float:
    """Return the threshold that decides the nearest possible share of these rows positive.

    Halfway between neighbouring distinct scores; of two shares equally near, the smaller.

    Examples
    --------
    >>> threshold_at_rate(np.array([0.1, 0.2, 0.6, 0.9]), 0.25)
    0.75
    """
    values = np.unique(scores)
    cuts = np.concatenate([(values[1:] + values[:-1]) / 2.0, [max(float(values[-1]), 0.0)]])
    shares = 1.0 - np.searchsorted(np.sort(scores), cuts, side="right") / len(scores)
    nearest = np.abs(shares - rate)
    return float(cuts[np.flatnonzero(nearest == nearest.min())[-1]])


def choose_threshold(
    scores: NDArray[np.float64],
    y: NDArray[np.integer[Any]],
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Return the threshold with the best accuracy on these rows, weighted if there are weights.

    Candidates lie halfway between neighbouring distinct scores; among equally
    good ones the one closest to ½ is taken. The group plays no part.

    Examples
    --------
    >>> choose_threshold(np.array([0.1, 0.2, 0.6, 0.9]), np.array([0, 1, 1, 1]))
    0.15...
    """
    order = np.argsort(scores, kind="stable")
    values, labels = scores[order], y[order]
    of = np.ones(len(y), dtype=np.int64) if weights is None else weights[order]
    # With the cut before position i, rows i and later are decided positive.
    correct = np.concatenate([[0], np.cumsum(of * (labels == 0))]) + np.concatenate(
        [np.cumsum((of * (labels == 1))[::-1])[::-1], [0]]
    )
    cuts = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2.0, [1.0]])
    # No threshold of 0 or more decides a score of 0 positive.
    usable = np.concatenate([[values[0] > 0.0], values[1:] > values[:-1], [True]])
    best = usable & (correct == correct[usable].max())
    candidates = cuts[best]
    return float(candidates[np.argmin(np.abs(candidates - 0.5))])
