r"""Joint forecasts :math:`q_{ay}(x) = P(A = a, Y = y \mid x)` as columns, and back.

They sum to 1, so one of the 2K says nothing new beside the intercept. The columns are
:math:`P(Y = 1 \mid x)`, then :math:`q_{a0}, q_{a1}` of every group but one, the reference:
:math:`2K - 1` in all. Each forecast is a linear function of them and the intercept, and so is
every rule :math:`\sum_{ay} c_{ay} q_{ay}(x)`, whichever group is the reference.
"""

from collections.abc import Sequence

import numpy as np

from fairsmooth._types import Floats


def joint_forecasts(label: Floats, group: Sequence[Floats]) -> Floats:
    """Multiply the forecast of the label with that of the group given each label.

    Parameters
    ----------
    label : ndarray of shape (n, 2)
        :math:`P(Y = y | x)`.
    group : two ndarrays of shape (n, K)
        :math:`P(A = a | x, Y = y)` for y = 0 and 1.

    Returns
    -------
    ndarray of shape (n, K, 2)
    """
    return np.stack([label[:, [y]] * group[y] for y in (0, 1)], axis=2)


def to_columns(joint: Floats, reference: int) -> Floats:
    """Return the columns of joint forecasts, shape (n, 2K - 1), before scaling."""
    others = np.delete(joint, reference, axis=1)
    positive = joint[:, :, 1].sum(axis=1)
    return np.hstack([positive[:, None], others.reshape(len(joint), 2 * others.shape[1])])


def linear_map(n_groups: int, reference: int) -> tuple[Floats, Floats]:
    """Return ``matrix`` and ``offset`` such that ``columns @ matrix + offset`` is joint.

    The forecasts are flat, group by group: ``q_00, q_01, q_10, ...``, shape (n, 2K).

    Examples
    --------
    >>> joint = np.array([[[0.1, 0.2], [0.3, 0.4]]])
    >>> matrix, offset = linear_map(2, reference=1)
    >>> (to_columns(joint, 1) @ matrix + offset).round(12).tolist()
    [[0.1, 0.2, 0.3, 0.4]]
    """
    n_columns = 2 * n_groups - 1
    matrix = np.zeros((n_columns, 2 * n_groups))
    offset = np.zeros(2 * n_groups)
    others = [group for group in range(n_groups) if group != reference]
    for place, group in enumerate(others):
        for label in (0, 1):
            matrix[1 + 2 * place + label, 2 * group + label] = 1.0
            matrix[1 + 2 * place + label, 2 * reference + label] = -1.0
    matrix[0, 2 * reference] = -1.0
    matrix[0, 2 * reference + 1] = 1.0
    offset[2 * reference] = 1.0
    return matrix, offset
