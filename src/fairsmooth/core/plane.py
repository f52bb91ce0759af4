r"""Linear models in a plane: a smooth score depends on :math:`w \cdot x` and :math:`|x|` alone."""

import math

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.core.few_rows import rounded_error
from fairsmooth.core.rows import Rows
from fairsmooth.core.smoothing.linear_error import linear_error, needs_more, rounded_logits


def in_a_plane(X: Rows, parameters: Floats) -> tuple[Floats, Floats] | None:
    """Return parameters and rows of a model of two columns that has the same smooth scores.

    A row's part along the weights, and its length across. None for rows that are too long to be
    squared.
    """
    weights = np.append(parameters[:-1], 0.0)
    length = float(np.linalg.norm(weights))
    along, squares = X.logits(weights), X.squared_norms()
    if not (math.isfinite(length) and np.isfinite(along).all() and np.isfinite(squares).all()):
        return None
    along = along / length if length else along
    across = np.sqrt(np.maximum(squares - along**2, 0.0))
    return np.array([length, 0.0, parameters[-1]]), np.column_stack([along, across])


def lost_in_sums(X: Rows, parameters: Floats, *, sigma: float, link: str) -> Floats:
    """Bound what adding up all columns does to the score of every row.

    In the plane two columns are left, and what cancelled before is not seen there. Zeros where the
    usual claim has room for it.
    """
    length, bias = float(np.linalg.norm(parameters[:-1])), float(parameters[-1])
    n_features = X.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        if sigma == 0.0:
            size = length * np.sqrt(X.squared_norms()) + abs(bias)
            return rounded_error(X.logits(parameters), size, n_features=n_features, link=link)
        if needs_more(rounded_logits(length, bias, n_features=n_features, sigma=sigma)):
            scale = sigma * np.sqrt(X.squared_norms() + 1.0)
            lost = linear_error(length, bias, scale, n_features=n_features, sigma=sigma, link=link)
            return np.asarray(np.fmin(lost, 1.0))
    return np.zeros(len(X))
