"""What a solver reports while it works."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Record:
    """The state after one iteration of a full-batch solver, or one epoch of another.

    Attributes
    ----------
    step : int
        Iteration or epoch, from 1.
    objective : float
        Value of Eq. (15), with weight decay and the parity term if any.
    losses : tuple of float
        Cross-entropy of each group's own smooth classifier.
    disparity : float
        The unweighted disparity term.
    seconds : float
        Time since training began.
    """

    step: int
    objective: float
    losses: tuple[float, ...]
    disparity: float
    seconds: float


Report = Callable[[Record], None]
