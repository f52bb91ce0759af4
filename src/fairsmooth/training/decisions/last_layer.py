"""What a network's last layer sees, and the intercept that makes its smooth decisions fair."""

from collections.abc import Callable

import numpy as np
import torch
from scipy.special import ndtri
from torch import Tensor

from fairsmooth._types import Floats
from fairsmooth.core.architecture import ACTIVATIONS, Network
from fairsmooth.training.decisions.line import Judge, best_step
from fairsmooth.training.decisions.refine import PHASES

_NODES = 16
# Intercepts at which smooth scores are computed, as multiples of the spread of the scores.
_GRID = (-1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0)
_EDGE = 1e-15


def expected_activations(
    network: Network, parameters: Floats, X: Floats, *, sigma: float
) -> Floats:
    r"""Return the mean of what the last layer sees, over the noise on the layers before it.

    Exact for one hidden layer, up to quadrature: a unit is :math:`a(\mu + s\epsilon)` with
    :math:`s^2 = \sigma^2(\lVert h\rVert^2 + 1)`. Deeper layers take the mean of the one
    below as if it were certain. For a linear model these are the columns themselves.
    """
    signal = torch.as_tensor(X)
    nodes, shares = np.polynomial.hermite_e.hermegauss(_NODES)
    shares = shares / shares.sum()
    for weight, bias in network.layers(torch.as_tensor(np.array(parameters)))[:-1]:
        mean = signal @ weight.mT + bias
        spread = sigma * torch.sqrt(signal.square().sum(-1, keepdim=True) + 1.0)
        signal = _average(ACTIVATIONS[network.activation], mean, spread, nodes, shares)
    return signal.numpy()


def _average(
    activation: Callable[[Tensor], Tensor],
    mean: Tensor,
    spread: Tensor,
    nodes: Floats,
    shares: Floats,
) -> Tensor:
    total = torch.zeros_like(mean)
    for node, share in zip(nodes.tolist(), shares.tolist(), strict=True):
        total += share * activation(mean + node * spread)
    return total


def fair_intercept(
    score: Callable[[Floats], Floats], parameters: Floats, judge: Judge, *, spread: float
) -> Floats:
    """Return the parameters with the last intercept moved to the best smooth decisions at ½.

    With a hidden layer the smooth score is no function of the mean logit alone. But it rises with
    the intercept, so every row has one intercept where its score is ½: found between
    the scores at a few intercepts, in the quantile scale, where they are nearly straight. Along
    these the best step is exact, as on any line.

    Parameters
    ----------
    score : callable
        Smooth scores of the rows, for parameters.
    parameters : ndarray of shape (m,)
        The last entry is the intercept of the last layer.
    judge : Judge
    spread : float
        Root mean square of the rule's scores.
    """
    steps = spread * np.array(_GRID)
    moved = np.tile(parameters, (len(steps), 1))
    moved[:, -1] += steps
    heights = np.stack([ndtri(np.clip(score(w), _EDGE, 1.0 - _EDGE)) for w in moved], axis=1)
    crossing = _crossings(heights, steps)
    best, _ = best_step(judge, -crossing, np.ones(len(crossing)), price=PHASES[-1][0])
    chosen = np.array(parameters)
    chosen[-1] += best
    return chosen


def _crossings(heights: Floats, steps: Floats) -> Floats:
    """Return for every row the step at which its rising height is 0, straight between steps."""
    heights = np.maximum.accumulate(heights, axis=1)
    after = np.clip((heights <= 0.0).sum(axis=1), 1, len(steps) - 1)
    rows = np.arange(len(heights))
    low, high = heights[rows, after - 1], heights[rows, after]
    rise = np.maximum(high - low, 1e-12)
    return np.asarray(steps[after - 1] - low * (steps[after] - steps[after - 1]) / rise)
