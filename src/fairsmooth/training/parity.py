r"""Extension: a penalty on the overall smooth classifier's gaps between groups.

The certificate says nothing about these gaps and stays as it is. The hard
decision ``N(W*)(x) > t`` is replaced by
:math:`\Phi\big((\Phi^{-1}(N) - \Phi^{-1}(t)) / h\big)`: in the quantile scale the
smooth score of a linear probit model is a Gaussian margin, so a small bandwidth
``h`` makes the surrogate rate follow the measured rate.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.special import ndtr, ndtri

PARITIES = ("demographic_parity", "equalized_odds", "both")

BANDWIDTH = 0.15
# Smooths |gap| at 0, far below any gap that a sample of this size can show.
_CORNER = 1e-3


def soft_decisions(
    scores: Tensor, *, threshold: float = 0.5, bandwidth: float = BANDWIDTH
) -> Tensor:
    """Return differentiable decisions in [0, 1] that approach ``score > threshold``.

    Examples
    --------
    >>> soft_decisions(torch.tensor([0.1, 0.5, 0.9])).round(decimals=3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    edge = torch.finfo(scores.dtype).eps
    cut = ndtri(torch.tensor(threshold, dtype=scores.dtype, device=scores.device))
    return ndtr((ndtri(scores.clamp(edge, 1.0 - edge)) - cut) / bandwidth)


def parity_penalty(
    scores: Sequence[Tensor],
    labels: Sequence[Tensor] | Tensor,
    *,
    parity: str,
    threshold: float = 0.5,
) -> Tensor:
    r"""Return the mean absolute difference of soft rates between groups.

    Parameters
    ----------
    scores, labels : sequences of K tensors
        Scores of the *overall* classifier and labels, by group.
    parity : {"demographic_parity", "equalized_odds", "both"}
        Which rates: selection; true and false positive; or all three.
    threshold : float
        The decision threshold.

    Returns
    -------
    Tensor
        :math:`\sum_{\text{rates}} \frac{2}{K(K-1)} \sum_{k<l} |r_k - r_l|`; for two
        groups this is the gap itself.
    """
    decisions = [soft_decisions(s, threshold=threshold) for s in scores]
    penalty = scores[0].new_zeros(())
    if parity in ("demographic_parity", "both"):
        penalty = penalty + _spread([d.mean() for d in decisions])
    if parity in ("equalized_odds", "both"):
        for label in (0.0, 1.0):
            chosen = [(y == label).to(d.dtype) for d, y in zip(decisions, labels, strict=True)]
            # A minibatch may lack a label in a group; that group then has no say.
            rates = [
                (d * c).sum() / c.sum() for d, c in zip(decisions, chosen, strict=True) if c.any()
            ]
            penalty = penalty + _spread(rates)
    return penalty


def _spread(rates: Sequence[Tensor]) -> Tensor:
    stacked = torch.stack(list(rates))
    if len(stacked) < 2:
        return stacked.new_zeros(())
    rows, columns = torch.triu_indices(len(stacked), len(stacked), offset=1)
    gaps = stacked[rows] - stacked[columns]
    return ((gaps.square() + _CORNER**2).sqrt() - _CORNER).mean()
