r"""The training objective, Eq. (15) and (16), and its parts.

.. math:: \sum_k L_k(W_k) + \alpha \sum_k \sum_{l>k} \lVert W_k - W_l\rVert_2^2

``L_k`` is the mean cross-entropy of the *smoothed* score over group ``k``:
:math:`-\log N(W_k)(x)`, not the average of cross-entropies.
"""

import torch
from torch import Tensor


def disparity(group_parameters: Tensor) -> Tensor:
    r"""Return :math:`\sum_k \sum_{l>k} \lVert W_k - W_l\rVert_2^2` for parameters ``(K, m)``.

    Computed as :math:`K \sum_k \lVert W_k - \bar W\rVert_2^2`, which costs
    O(Km) rather than O(K²m) and needs only the mean to be exchanged.

    Examples
    --------
    >>> disparity(torch.tensor([[0.0, 0.0], [3.0, 4.0]])).item()
    25.0
    """
    offsets = group_parameters - group_parameters.mean(0)
    return len(group_parameters) * offsets.square().sum()


def disparity_gradient(group_parameters: Tensor) -> Tensor:
    r"""Return the gradient :math:`2K(W_k - \bar W)`, the tie in the update of Eq. (17)."""
    return 2.0 * len(group_parameters) * (group_parameters - group_parameters.mean(0))


def label_log_probability(scores: Tensor, y: Tensor, *, error: float = 0.0) -> Tensor:
    r"""Return :math:`\log P(y)` per row for scores :math:`P(y = 1)` and labels 0 or 1.

    Probabilities are kept away from 0 by the error of the scores, or by a rounding
    error: below that they mean nothing, and a row the classifier is certain and wrong
    about should cost much but not infinity.
    """
    chosen = torch.where(y > 0.5, scores, 1.0 - scores)
    return chosen.clamp_min(max(error, torch.finfo(scores.dtype).eps)).log()
