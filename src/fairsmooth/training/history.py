"""What a solver reports while it works."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from fairsmooth.training.problem import Terms


@dataclass(frozen=True)
class TrainingStep:
    """The state after one iteration of a full-batch solver, or the mean of an epoch of another.

    Attributes
    ----------
    step : int
        Iteration or epoch, from 1.
    objective : float
        Value of Eq. (15), with weight decay and the parity term if any. Of a minibatch
        solver, the mean over the epoch's steps.
    losses : tuple of float
        Cross-entropy of each group's own smooth classifier, likewise.
    disparity : float
        The unweighted disparity term, likewise.
    seconds : float
        Time since training began.
    """

    step: int
    objective: float
    losses: tuple[float, ...]
    disparity: float
    seconds: float


Report = Callable[[TrainingStep], None]


def as_step(terms: Terms, step: int, began: float) -> TrainingStep:
    """Take the numbers out of the tensors."""
    return TrainingStep(
        step=step,
        objective=terms.objective.item(),
        losses=tuple(terms.losses.tolist()),
        disparity=terms.disparity.item(),
        seconds=time.perf_counter() - began,
    )
