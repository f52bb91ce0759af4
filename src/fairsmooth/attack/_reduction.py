"""The three dimensions that matter to a linear model.

Its smooth score depends on the input through the logit and the norm alone. So
two linear models are told apart by the input's coordinates in the span of their
weights and by the length of the rest, and one more direction stands for the rest.
"""

from dataclasses import replace

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.attack.target import Target
from fairsmooth.core.architecture import Network

_DIMENSIONS = 3


def reduce_linear(target: Target, position: int) -> tuple[Target, Floats]:
    """Return an equal model of one group on at most three inputs, and the basis ``(d, 3)``.

    The gap of the small model at ``y`` is the gap of the large one at ``basis @ y``.
    """
    n_features = target.network.n_features
    weights = np.stack([target.parameters, target.group_parameters[position]])
    basis = _orthonormal(weights[:, :-1].T)
    small = np.column_stack([weights[:, :-1] @ basis, weights[:, -1]])
    reduced = replace(
        target,
        network=Network(min(n_features, _DIMENSIONS)),
        parameters=small[0],
        group_parameters=small[1:],
        groups=target.groups[position : position + 1],
    )
    return reduced, basis


def _orthonormal(columns: Floats) -> Floats:
    """Return up to three orthonormal columns whose first ones span those given."""
    if len(columns) <= _DIMENSIONS:
        return np.eye(len(columns))
    # Householder's Q is orthonormal whatever the columns: dependent, zero or repeated.
    left, _ = np.linalg.qr(np.column_stack([columns, np.eye(len(columns), 1)]))
    return np.asarray(left)
