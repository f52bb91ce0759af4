r"""One shift of all groups' parameters, which installs a rule and leaves every difference.

:math:`W_k \to W_k + u` for all ``k`` moves :math:`W^*` by ``u`` and leaves all
:math:`W_k - W_l`, so every certificate, as they are but for rounding. The parameters are never
multiplied: that would scale the differences.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar

from fairsmooth._types import Floats, Labels
from fairsmooth.training.decisions.calibration import log_loss

# Lengths of the rule that are tried, relative to scores of mean square 1.
_SHORTEST, _LONGEST = 0.05, 200.0
_TOLERANCE = 0.02


def common_shift(group_parameters: Floats, center: Floats, wanted: Floats) -> Floats:
    """Return all groups' parameters, moved alike so that the centre becomes the wanted one.

    Examples
    --------
    >>> common_shift(np.array([[0.0, 1.0], [2.0, 1.0]]), np.array([1.0, 1.0]), np.array([5.0, 0.0]))
    array([[4., 0.],
           [6., 0.]])
    """
    return np.asarray(group_parameters + (wanted - center))


def choose_length(
    score: Callable[[Floats], Floats], rule: Floats, y: Labels, *, scores_of_rule: Floats
) -> Floats:
    """Return the rule times the positive number whose smooth scores have the least log loss.

    Decisions at ½ of a linear model do not depend on that number; scores do.

    Parameters
    ----------
    score : callable
        Smooth scores of the rows, for parameters.
    rule : ndarray of shape (m,)
    y : ndarray of shape (n,)
    scores_of_rule : ndarray of shape (n,)
        The rule's linear scores, which tell its scale.
    """
    scale = float(np.sqrt(np.mean(scores_of_rule**2)))
    if not scale > 0.0:
        return rule
    unit = rule / scale
    solved = minimize_scalar(
        lambda power: log_loss(score(np.exp(power) * unit), y),
        bounds=(np.log(_SHORTEST), np.log(_LONGEST)),
        method="bounded",
        options={"xatol": _TOLERANCE},
    )
    return np.asarray(np.exp(solved.x) * unit)
