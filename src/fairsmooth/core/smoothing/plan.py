"""How finely to integrate each row: half period by Chernoff's bound, range by the envelope."""

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from fairsmooth.core.smoothing.inversion import LINK_RANGE
from fairsmooth.core.smoothing.relu import ReluUnits
from fairsmooth.core.smoothing.smooth_units import SmoothUnits

HiddenUnits = ReluUnits | SmoothUnits

# A score closer than e^-26 = 5e-12 to 0 or 1 is given as 0 or 1.
_SATURATED = 26.0
# Largest theta·sigma·s: exponential moments are infinite from 1 on.
_NEAR_DIVERGENCE = 0.9


@dataclass(frozen=True)
class Accuracy:
    """How fine the integration is.

    Parameters
    ----------
    tail : float
        Each tail of the logit beyond the half period weighs at most ``exp(-tail)``.
    truncation : float
        What the nodes left out may add.
    finer : float
        Divides the step and multiplies the range (until the link's factor is 0 in
        float64): 10 gives a reference with more than ten times the nodes.
    """

    tail: float = 15.0
    truncation: float = 5e-8
    finer: float = 1.0


@dataclass(frozen=True)
class Plan:
    """How to integrate, row by row: all of shape (R,), none carries a gradient.

    ``step`` and ``reach`` of the midpoint rule; ``saturated`` rows have the score ``limit``;
    ``tail`` bounds the error of the step, and of saturation; ``low`` and ``high`` enclose the
    score by Chernoff's bound alone.
    """

    step: Tensor
    reach: Tensor
    saturated: Tensor
    limit: Tensor
    tail: Tensor
    low: Tensor
    high: Tensor

    def take(self, rows: Tensor | slice) -> "Plan":
        """Return the plan of a choice of rows."""
        return Plan(*(getattr(self, f.name)[rows] for f in fields(self)))

    @staticmethod
    def join(plans: "list[Plan]") -> "Plan":
        """Return one plan for all rows of several."""
        return Plan(*(torch.cat([getattr(p, f.name) for p in plans]) for f in fields(Plan)))


def plan_rows(units: HiddenUnits, bias: Tensor, link: str, accuracy: Accuracy) -> Plan:
    """Choose step and range from the logit's moments, exponential moments and envelope."""
    sigma = units.sigma
    link_variance = 1.0 if link == "probit" else 0.0
    variance = units.variance() + sigma**2
    theta = _theta(units, variance + link_variance, accuracy.tail)
    if link == "logistic":
        theta = theta.clamp_max(1.0)
    common = 0.5 * theta.square() * (sigma**2 + link_variance) + _link_gain(theta, link)
    both = torch.stack([theta, -theta])
    up, down = (common + both * bias + units.log_exponential_moment(both)).unbind()
    most, least = torch.maximum(up, down), torch.minimum(up, down)
    half_period = accuracy.finer * (most + accuracy.tail) / theta
    saturated = least < -_SATURATED
    # The two tails err in opposite directions, so the larger one bounds their sum.
    tail = torch.exp(most - theta * half_period)
    return Plan(
        step=2.0 * math.pi / half_period,
        reach=_reach(units, variance, link, accuracy),
        saturated=saturated,
        limit=(down < up).to(bias.dtype),
        tail=torch.where(saturated, torch.exp(least), tail),
        low=-torch.expm1(down.clamp_max(0.0)),
        high=torch.exp(up.clamp_max(0.0)),
    )


def _theta(units: HiddenUnits, variance: Tensor, tail: float) -> Tensor:
    r"""Choose Chernoff's parameter: any is valid, the best makes the half period short.

    Bounded units have Gaussian tails: :math:`\sqrt{2\Lambda}/\tau`. Others have exponential
    moments like :math:`(1 - x^2)^{-k}`, :math:`x = \theta\sigma s`, with
    :math:`k = \tau^2/2(\sigma s)^2`;
    then :math:`(\Lambda - k\log(1 - x^2))/x` is least where :math:`w = x^2/(1 - x^2)` solves
    :math:`2w - \log(1 + w) = \Lambda/k`, here by Newton's method.
    """
    if units.activation == "tanh":
        return math.sqrt(2.0 * tail) / variance.sqrt()
    width = units.sigma * units.scale
    wanted = 2.0 * tail * (width.square() / variance)
    w = wanted * (1.0 + wanted) / (1.0 + 2.0 * wanted)
    for _ in range(2):
        w = w - (2.0 * w - torch.log1p(w) - wanted) * (1.0 + w) / (1.0 + 2.0 * w)
    return (w / (1.0 + w)).sqrt().clamp_max(_NEAR_DIVERGENCE) / width


def _reach(units: HiddenUnits, variance: Tensor, link: str, accuracy: Accuracy) -> Tensor:
    reach = units.reach(variance, link, accuracy.truncation)
    return (accuracy.finer * reach).clamp_max(min(LINK_RANGE[link], 9.0 / units.sigma))


def _link_gain(theta: Tensor, link: str) -> Tensor:
    r"""Return :math:`\log\sup_y g(y)e^{-\theta y}`: ``sigmoid(y)`` is at most a share of it."""
    if link != "logistic":
        return torch.zeros_like(theta)
    return torch.xlogy(theta, theta) + torch.xlogy(1.0 - theta, 1.0 - theta)
