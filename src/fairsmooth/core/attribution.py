r"""What each feature adds to a smooth score, from a reference row to the row at hand.

Integrated gradients of the smooth score along the straight line between the two,

.. math:: c_i = (x_i - r_i) \int_0^1 \partial_i N(W)\bigl(r + t(x - r)\bigr)\,dt ,

add up to the difference of the two scores, since the smooth score is differentiable. For a
linear model the gradient is closed: with :math:`\mu = w·x + b`,
:math:`v = \sigma^2(\lVert x\rVert^2+1)` and the score :math:`S(\mu, v)`, it is
:math:`S_\mu w_i + 2\sigma^2 S_v x_i`. The integral is taken by Gauss quadrature until it adds up;
what then still lacks is shared out in proportion, and told.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.core.network import Network
from fairsmooth.core.smoothing.mixtures import LINEAR_ERROR, N_NODES, logistic_mixture

# Steps along the line: of Gauss, then in ever more panels, until what lacks is below the goal,
# which is not below the error of a score.
_NODES = 16
_MOST_PANELS = 64
LINEAR_GOAL, NETWORK_GOAL = LINEAR_ERROR, 2e-6
_CHUNK = 1024


class Attribution(NamedTuple):
    """Contributions (n, d) that add up to the difference, and what quadrature left over (n,)."""

    contributions: Floats
    left_over: Floats


Path = Callable[[Floats, Floats, Floats], Floats]


def attribute(
    path: Path, X: Floats, difference: Floats, *, goal: float = LINEAR_GOAL
) -> Attribution:
    """Integrate rows along a path until contributions add up to the difference of their scores.

    ``path`` takes rows, steps in [0, 1] and their weights, and returns contributions. A row is
    done when what lacks is below the ``goal``, or after the most panels.
    """
    contributions = np.empty_like(X)
    left_over = np.empty(len(X))
    for start in range(0, len(X), _CHUNK):
        rows = slice(start, start + _CHUNK)
        contributions[rows], left_over[rows] = _integrated(path, X[rows], difference[rows], goal)
    return Attribution(completed(contributions, left_over), left_over)


def _integrated(path: Path, X: Floats, difference: Floats, goal: float) -> tuple[Floats, Floats]:
    contributions = np.zeros_like(X)
    left_over = np.full(len(X), np.inf)
    panels = 1
    while panels <= _MOST_PANELS:
        again = np.abs(left_over) > goal
        if not again.any():
            break
        contributions[again] = path(X[again], *_gauss(panels))
        left_over[again] = difference[again] - contributions[again].sum(axis=1)
        panels *= 4
    return contributions, left_over


def _gauss(panels: int) -> tuple[Floats, Floats]:
    """Return nodes and weights on [0, 1], the same rule on every panel."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    starts = np.arange(panels)[:, None]
    return ((starts + 0.5 * (nodes + 1.0)) / panels).ravel(), np.tile(
        0.5 * weights / panels, panels
    )


def completed(contributions: Floats, left_over: Floats) -> Floats:
    """Share what is left over in proportion to the contributions."""
    share = np.abs(contributions)
    total = share.sum(axis=1, keepdims=True)
    share = np.divide(share, total, out=np.zeros_like(share), where=total > 0.0)
    return np.asarray(contributions + share * left_over[:, None])


def linear_path(parameters: Floats, reference: Floats, *, sigma: float, link: str) -> Path:
    """Return the path of a linear model; parameters are weights, then the intercept."""
    weights, intercept = parameters[:-1], parameters[-1]
    noise = sigma * sigma
    own, shares = _mixture(link)
    first = float(reference @ weights + intercept)

    def path(X: Floats, steps: Floats, step_weights: Floats) -> Floats:
        way = X - reference
        mean = first + (way @ weights)[:, None] * steps
        square = (
            reference @ reference
            + 2.0 * (way @ reference)[:, None] * steps
            + np.einsum("ij,ij->i", way, way)[:, None] * steps**2
        )
        variance = (noise * (square + 1.0))[..., None] + own
        density = np.exp(-0.5 * mean[..., None] ** 2 / variance) / np.sqrt(2.0 * math.pi * variance)
        by_mean = (density @ shares) * step_weights
        by_variance = ((-0.5 * mean[..., None] * density / variance) @ shares) * step_weights
        # The gradient's second part grows along the line as the row itself does.
        at_start, along = by_variance.sum(axis=1), by_variance @ steps
        gradient = by_mean.sum(axis=1)[:, None] * weights + 2.0 * noise * (
            at_start[:, None] * reference + along[:, None] * way
        )
        return np.asarray(way * gradient)

    return path


def _mixture(link: str) -> tuple[Floats, Floats]:
    if link == "probit":
        return np.ones(1), np.ones(1)
    widths, shares = logistic_mixture(N_NODES)
    return widths**2, shares


def network_path(
    network: Network, parameters: Floats, reference: Floats, *, sigma: float, link: str
) -> Path:
    """Return the path of a network with one hidden layer, by automatic differentiation."""
    import torch  # here: linear models are explained without it

    from fairsmooth.core.smoothing import smooth_network

    weights = torch.from_numpy(np.array(parameters))

    def path(X: Floats, steps: Floats, step_weights: Floats) -> Floats:
        way = X - reference
        gradient = np.zeros_like(way)
        for step, weight in zip(steps, step_weights, strict=True):
            rows = torch.from_numpy(reference + step * way).requires_grad_()
            scores = smooth_network(network, weights, rows, sigma=sigma, link=link)
            (found,) = torch.autograd.grad(scores.sum(), rows)
            gradient += weight * found.numpy()
        return np.asarray(way * gradient)

    return path


def one_by_one(
    scores: Callable[[Floats], Floats], X: Floats, reference: Floats, blocks: list[list[int]]
) -> Floats:
    """Return contributions of blocks of features, each set after the others, in both orders.

    For scores without a gradient. Differences of consecutive scores add up by themselves.
    """
    found = np.zeros((len(X), len(blocks)))
    for order in (range(len(blocks)), reversed(range(len(blocks)))):
        rows = np.tile(reference, (len(X), 1))
        before = scores(rows)
        for block in order:
            rows[:, blocks[block]] = X[:, blocks[block]]
            after = scores(rows)
            found[:, block] += 0.5 * (after - before)
            before = after
    return found
