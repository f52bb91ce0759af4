"""Whether a solver did what it was asked to, and what to say if it did not."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from fairsmooth.exceptions import InputError

# A training has ended too early if its last quarter still brought more than this share of
# all that it brought. Of an objective that falls exponentially this leaves about 4 % of the
# fall undone. Networks of 16 to 64 units on 600 to 34,000 rows in 2 to 50 groups stood at 0 to
# .05 where more steps changed nothing, and at .14 to .25 where they had taken too few.
_MARKED = 0.08


@dataclass(frozen=True)
class Solution:
    """Where a solver stopped.

    Attributes
    ----------
    parameters : Tensor of shape (K, m)
    steps : int
        Iterations or epochs taken.
    unmet : str or None
        Why the tolerance was not met, or None if it was.
    fall : float
        By how much the objective fell.
    """

    parameters: Tensor
    steps: int
    unmet: str | None = None
    fall: float = 0.0


def still_falling(objectives: Sequence[float], *, earlier_fall: float = 0.0) -> str | None:
    """Say so if the objective of the last steps was still falling markedly.

    Compared are the means over the third and the last quarter of all steps. The fall between
    them is marked if it exceeds 8 % of the whole fall since the first step, and
    twice its standard error. ``earlier_fall`` is what a training that this
    one continues had brought already.

    Examples
    --------
    >>> still_falling([2.0**-step for step in range(40)]) is None
    True
    >>> still_falling([40.0 - step for step in range(40)])
    'the objective still fell by 29.0 % of its whole fall in the last quarter of the steps'
    """
    values = np.asarray(objectives)
    quarter = len(values) // 4
    if quarter == 0:
        return f"{len(values)} steps are too few to tell"
    before, last = values[-2 * quarter : -quarter], values[-quarter:]
    fall = float(before.mean() - last.mean())
    noise = math.sqrt((before.var() + last.var()) / quarter)
    whole = earlier_fall + float(values[0] - last.mean())
    if fall <= max(2.0 * noise, _MARKED * whole, 0.0):
        return None
    return (
        f"the objective still fell by {100.0 * fall / max(whole, fall):.1f} % of its whole fall "
        "in the last quarter of the steps"
    )


def require_finite(objective: Tensor, parameters: Tensor, *, where: str) -> None:
    """Refuse an objective or parameters that are no numbers, rather than return them."""
    value = objective.item()
    if not (math.isfinite(value) and bool(torch.isfinite(parameters).all())):
        raise InputError(
            f"Expected a finite objective and gradient, got {value} {where}: training diverged. "
            "Standardise the columns, or lower learning_rate."
        )


def warn_unmet(solution: Solution, *, what: str, remedy: str) -> None:
    """Warn, as scikit-learn does, where a solver stopped before it had met its tolerance."""
    if solution.unmet is not None:
        warnings.warn(
            f"{what} did not converge: {solution.unmet}. {remedy}",
            ConvergenceWarning,
            stacklevel=2,
        )
