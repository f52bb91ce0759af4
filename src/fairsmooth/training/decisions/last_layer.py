"""What a network's last layer sees, and the intercept that makes its smooth decisions fair."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import ndtri
from torch import Tensor

from fairsmooth._types import Floats
from fairsmooth.core.architecture import ACTIVATIONS, Network
from fairsmooth.training.decisions.line import Judge, best_step
from fairsmooth.training.decisions.refine import PHASES

_NODES = 16
# The first intercepts tried, as a share of the spread of the scores, and how many more.
_FIRST, _TRIES = 0.3, 4
_EDGE = 1e-15


@dataclass(frozen=True, eq=False)
class LastInputs:
    """What the last layer sees of the rows, over the noise on the layers before it.

    Attributes
    ----------
    mean : ndarray of shape (n, width)
    variance : ndarray of shape (width,)
        Of every unit, averaged over the rows; 0 for a linear model.
    """

    mean: Floats
    variance: Floats


def last_inputs(network: Network, parameters: Floats, X: Floats, *, sigma: float) -> LastInputs:
    r"""Return mean and variance of what the last layer sees.

    Exact for one hidden layer, up to quadrature: a unit is :math:`a(\mu + s\epsilon)` with
    :math:`s^2 = \sigma^2(\lVert h\rVert^2 + 1)`. Deeper layers take the mean of the one
    below as if it were certain. A linear model sees the columns themselves.
    """
    signal = torch.as_tensor(X)
    variance = torch.zeros(X.shape[1], dtype=torch.float64)
    for weight, bias in network.layers(torch.as_tensor(np.array(parameters)))[:-1]:
        mean = signal @ weight.mT + bias
        spread = sigma * torch.sqrt(signal.square().sum(-1, keepdim=True) + 1.0)
        signal, square = _moments(ACTIVATIONS[network.activation], mean, spread)
        variance = (square - signal.square()).clamp_min(0.0).mean(0)
    return LastInputs(signal.numpy(), variance.numpy())


def _moments(
    activation: Callable[[Tensor], Tensor], mean: Tensor, spread: Tensor
) -> tuple[Tensor, Tensor]:
    """Return mean and mean square of an activation of Gaussian inputs."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(_NODES)
    first, second = torch.zeros_like(mean), torch.zeros_like(mean)
    for node, share in zip(nodes.tolist(), (shares / shares.sum()).tolist(), strict=True):
        value = activation(mean + node * spread)
        first += share * value
        second += share * value.square()
    return first, second


def fair_intercept(
    score: Callable[[Floats], Floats], parameters: Floats, judge: Judge, *, spread: float
) -> Floats:
    """Return the parameters with the last intercept moved to the best smooth decisions at ½.

    With a hidden layer the smooth score is no function of the mean logit alone. But it rises with
    the intercept, so every row has one intercept where its score is ½: found between
    the scores at a few intercepts, in the quantile scale, where they are nearly straight. Along
    these the best step is exact, as on any line. Where the decisions there turn out to exceed
    a limit, their scores make the crossings more exact, and the next step is better.

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

    def moved(step: float) -> Floats:
        chosen = np.array(parameters)
        chosen[-1] += step
        return chosen

    def height(step: float) -> Floats:
        return np.asarray(ndtri(np.clip(score(moved(step)), _EDGE, 1.0 - _EDGE)))

    known = {step: height(step) for step in (-_FIRST * spread, 0.0, _FIRST * spread)}
    best = 0.0
    for _ in range(_TRIES):
        steps = np.array(sorted(known))
        crossing = _crossings(np.stack([known[step] for step in steps], axis=1), steps)
        best, _ = best_step(judge, -crossing, np.ones(len(crossing)), price=PHASES[-1][0])
        if best in known:
            break
        known[best] = height(best)
        if float(judge.limits.excess(judge.hits(known[best] > 0.0))) == 0.0:
            break
    return moved(best)


def _crossings(heights: Floats, steps: Floats) -> Floats:
    """Return for every row the step at which its rising height is 0, straight between steps."""
    heights = np.maximum.accumulate(heights, axis=1)
    after = np.clip((heights <= 0.0).sum(axis=1), 1, len(steps) - 1)
    rows = np.arange(len(heights))
    low, high = heights[rows, after - 1], heights[rows, after]
    rise = np.maximum(high - low, 1e-12)
    return np.asarray(steps[after - 1] - low * (steps[after] - steps[after - 1]) / rise)
