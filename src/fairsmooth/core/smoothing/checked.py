"""Rows that are checked where they are smoothed: a chunk at a time, while it is in the cache."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from fairsmooth.core.architecture import Architecture, Network
from fairsmooth.core.smoothing.methods import Result, Task, exact
from fairsmooth.exceptions import InputError


def smoothed(smoother: Callable[[Task, Tensor], Result], task: Task, rows: Tensor) -> Result:
    """Smooth a chunk of rows, which must be finite."""
    place = task.parameters.device
    links = task.sigma > 0.0 and task.link != "step"
    if not (smoother is exact and is_linear(task.architecture) and links):
        return smoother(task, _finite(rows).to(place))
    # A row that is not finite has no length, and so no score: one pass over the rows less.
    result = smoother(task, rows.to(place))
    if not all_finite(result[0]):
        _finite(rows)
    return result


def is_linear(base: Architecture) -> bool:
    """Tell whether a logit is one product of weights and row."""
    return isinstance(base, Network) and not base.hidden_layer_sizes


def all_finite(values: Tensor) -> bool:
    """Tell whether no value is infinite or NaN."""
    # A finite sum proves it in one pass; large values may overflow the sum.
    return math.isfinite(float(values.sum())) or bool(torch.isfinite(values).all())


def _finite(rows: Tensor) -> Tensor:
    if not all_finite(rows):
        raise InputError("Expected finite X, got NaN or infinity.")
    return rows
