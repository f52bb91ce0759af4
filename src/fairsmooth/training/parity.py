r"""Extension: a penalty on the overall smooth classifier's gaps between groups.

The certificate says nothing about these gaps and stays as it is. The hard
decision ``N(W*)(x) > t`` is replaced by
:math:`\Phi\big((\Phi^{-1}(N) - \Phi^{-1}(t)) / h\big)`: in the quantile scale the
smooth score of a linear probit model is a Gaussian margin, so a small bandwidth
``h`` makes the surrogate rate follow the measured rate. A small one also has narrow slopes
that a solver cannot see from afar, so training begins with a wide one and narrows it.

The surrogate is no constraint on decisions: it may be met where decisions are not, and the other
way round. :mod:`fairsmooth.training.parity_gaps` measures both, on the training rows.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.special import ndtr, ndtri

PARITIES = ("demographic_parity", "equalized_odds", "both")

# On Adult by sex, at weight 10 and tolerances (.05, .08), gaps of surrogate and of decisions on
# training rows differ by .03/.06 at bandwidth .4, by .01/.02 at .1, and by .01/.01 at .05, in
# 1, 2 and 2.3 times as many iterations.
WIDEST, BANDWIDTH = 0.4, 0.1
# Rounds off |gap| at 0 and the excess at the tolerance: quasi-Newton steps stall at
# a kink, and a sample rarely tells gaps apart that are closer than this.
_CORNER = 0.01


def narrowing(bandwidth: float) -> tuple[float, ...]:
    """Return the bandwidths that training goes through: from a wide one, halved, to the wanted.

    Examples
    --------
    >>> narrowing(0.1)
    (0.4, 0.2, 0.1)
    >>> narrowing(0.7)
    (0.7,)
    """
    stages = [bandwidth]
    while stages[0] * 2.0 <= WIDEST:
        stages.insert(0, stages[0] * 2.0)
    return tuple(stages)


def soft_decisions(
    scores: Tensor, *, threshold: float = 0.5, bandwidth: float = BANDWIDTH
) -> Tensor:
    """Return differentiable decisions in [0, 1] that approach ``score > threshold``.

    Examples
    --------
    >>> soft_decisions(torch.tensor([0.1, 0.5, 0.9])).round(decimals=2)
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
    tolerance: tuple[float, float] = (0.0, 0.0),
    bandwidth: float = BANDWIDTH,
    weights: Sequence[Tensor] | Tensor | None = None,
) -> Tensor:
    r"""Return how far the overall classifier's soft gaps exceed what is tolerated.

    Parameters
    ----------
    scores, labels : sequences of K tensors
        Scores of the *overall* classifier and labels, by group.
    parity : {"demographic_parity", "equalized_odds", "both"}
        Which gaps: of selection rates; of true and false positive rates; or all three.
    threshold : float
        The decision threshold.
    tolerance : (float, float)
        What is tolerated of the demographic parity gap and of the equalized odds
        gap (the sum of both); only what exceeds it is penalised.
    bandwidth : float
        Of the soft decisions.
    weights : sequence of K tensors, optional
        Weights of the rows in the rates.

    Returns
    -------
    Tensor
        The sum of the excesses. For two groups a gap is the absolute difference of
        their rates, for more the mean over all pairs.
    """
    decisions = [soft_decisions(s, threshold=threshold, bandwidth=bandwidth) for s in scores]
    if weights is None:
        weights = [torch.ones_like(d) for d in decisions]
    penalty = scores[0].new_zeros(())
    if parity in ("demographic_parity", "both"):
        by_group = zip(decisions, weights, strict=True)
        gap = _spread([_mean(d, w) for d, w in by_group if len(d)], penalty)
        penalty = penalty + _excess(gap, tolerance[0])
    if parity in ("equalized_odds", "both"):
        gaps = [_conditional_gap(decisions, labels, weights, label) for label in (0.0, 1.0)]
        penalty = penalty + _excess(gaps[0] + gaps[1], tolerance[1])
    return penalty


def _conditional_gap(
    decisions: Sequence[Tensor],
    labels: Sequence[Tensor] | Tensor,
    weights: Sequence[Tensor] | Tensor,
    label: float,
) -> Tensor:
    chosen = [(y == label).to(d.dtype) for d, y in zip(decisions, labels, strict=True)]
    # A minibatch may lack a label in a group, or held-out rows a group; it then has no say.
    return _spread(
        [_mean(d, c * w) for d, c, w in zip(decisions, chosen, weights, strict=True) if c.any()],
        decisions[0].new_zeros(()),
    )


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    return (values * weights).sum() / weights.sum()


def _excess(gap: Tensor, tolerated: float) -> Tensor:
    return _CORNER * torch.nn.functional.softplus((gap - tolerated) / _CORNER)


def _spread(rates: Sequence[Tensor], none: Tensor) -> Tensor:
    if len(rates) < 2:
        return none
    stacked = torch.stack(list(rates))
    rows, columns = torch.triu_indices(len(stacked), len(stacked), offset=1)
    gaps = stacked[rows] - stacked[columns]
    return ((gaps.square() + _CORNER**2).sqrt() - _CORNER).mean()
