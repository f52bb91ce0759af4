"""One decision threshold for everybody, chosen on held-out rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


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
