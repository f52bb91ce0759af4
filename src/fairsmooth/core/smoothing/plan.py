"""How finely to integrate each row: half period by Chernoff's bound, range by the envelope."""

import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from fairsmooth.core.smoothing.inversion import last_end
from fairsmooth.core.smoothing.relu import ReluUnits
from fairsmooth.core.smoothing.relu_series import ReluSeries
from fairsmooth.core.smoothing.smooth_units import SmoothUnits

HiddenUnits = ReluUnits | ReluSeries | SmoothUnits

# A score closer than e^-26 = 5e-12 to 0 or 1 is given as 0 or 1.
_SATURATED = 26.0


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

    ``step`` and ``reach`` of the midpoint rule, and a bound ``rest`` on what lies beyond (perhaps
    too large where the range is only a guess); ``saturated`` rows have the score ``limit``;
    ``tail`` bounds the error of the step, and of saturation; ``low`` and ``high`` enclose the
    score by Chernoff's bound alone.
    """

    step: Tensor
    reach: Tensor
    rest: Tensor
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
    """Choose step and range from the logit's exponential moments and envelope."""
    link_variance = 1.0 if link == "probit" else 0.0
    bounds = units.bounds(link, accuracy.tail, accuracy.truncation)
    theta = bounds.theta
    noise = 0.5 * (units.sigma**2 + link_variance)
    common, pull = noise * theta.square() + _link_gain(theta, link), theta * bias
    up = common + pull + bounds.log_moment_up
    down = common - pull + bounds.log_moment_down
    # The two tails err in opposite directions, so the larger one bounds their sum.
    most = torch.maximum(up, down)
    half_period = (accuracy.finer * (most + accuracy.tail) / theta).amin(0)
    # Every parameter bounds what lies beyond the half period.
    tail = torch.exp((most - theta * half_period).amin(0))
    least_up, least_down = up.amin(0), down.amin(0)
    least = torch.minimum(least_up, least_down)
    saturated = least < -_SATURATED
    return Plan(
        step=2.0 * math.pi / half_period,
        reach=(accuracy.finer * bounds.reach).clamp_max(last_end(units.sigma, link)),
        rest=bounds.rest,
        saturated=saturated,
        limit=(least_down < least_up).to(bias.dtype),
        tail=torch.where(saturated, torch.exp(least), tail),
        low=-torch.expm1(least_down.clamp_max(0.0)).nan_to_num(0.0),
        high=torch.exp(least_up.clamp_max(0.0)).nan_to_num(1.0),
    )


def _link_gain(theta: Tensor, link: str) -> Tensor:
    r"""Return :math:`\log\sup_y g(y)e^{-\theta y}`: ``sigmoid(y)`` is at most a share of it."""
    if link != "logistic":
        return torch.zeros_like(theta)
    other = 1.0 - theta
    return torch.xlogy(theta, theta) + torch.xlogy(other, other)
