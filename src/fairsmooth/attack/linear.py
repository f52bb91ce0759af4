"""The worst input of a linear model, solved rather than searched for."""

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.attack.branch import maximise
from fairsmooth.attack.contrast import Contrast
from fairsmooth.attack.target import Target

# Norms tried for an input that should be infinite: the least that loses no more than this.
_NORMS = 10.0 ** np.arange(0, 101)
_LOSS = 1e-6


def worst_linear_input(target: Target, position: int, *, deadline: float) -> tuple[Floats, float]:
    """Return the input with the largest gap of one group, and a bound on the gap of any.

    The supremum over all of ``R^d`` is a maximum over a sphere in three dimensions (see
    :mod:`~fairsmooth.attack.contrast`), found by branch and bound. Where it lies at
    infinity, the input is as long as it takes to come within a millionth of it.
    """
    weights = np.stack([target.parameters, target.group_parameters[position]])
    basis = _plane(weights[:, :-1].T)
    small = np.column_stack([weights[:, :-1] @ basis, weights[:, -1]])
    contrast = Contrast.of(small[0], small[1], sigma=target.sigma, link=target.link)
    (latitude, longitude), value, ceiling = maximise(contrast, deadline=deadline)
    return basis @ _input(contrast, contrast.ray(latitude, longitude), value), ceiling


def _plane(columns: Floats) -> Floats:
    """Return one or two orthonormal columns that span the two given."""
    # Householder's Q is orthonormal whatever the columns: dependent, zero or repeated.
    return np.asarray(np.linalg.qr(columns)[0])


def _input(contrast: Contrast, ray: Floats, value: float) -> Floats:
    """Return the input of a ray, or the shortest beneath it that is nearly as bad."""
    direction, bias = ray[:-1], ray[-1]
    length = float(np.linalg.norm(direction))
    if length <= abs(bias):
        return direction / bias
    norm = min(length / max(abs(bias), 1e-300), _NORMS[-1])
    inputs = np.append(_NORMS[norm > _NORMS], norm)[:, None] * direction / length
    inputs = np.copysign(1.0, bias) * inputs
    near = contrast.gaps(inputs) >= (1.0 - _LOSS) * value
    return inputs[int(near.argmax())] if near.any() else inputs[-1]
