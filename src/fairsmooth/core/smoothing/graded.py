r"""Inversion when scales are far apart: few units, enormous inputs or weights.

Then the logit is a mixture of narrow and very wide laws (a ReLU unit is 0 half of
the time) and equal steps would need as many nodes as the ratio of the scales. On
intervals that double in length the integrand is smooth, so that Gauss-Legendre on
each of them needs nodes in proportion to the logarithm of that ratio.
"""

import math
from functools import cache

import numpy as np
import torch
from torch import Tensor

from fairsmooth.core.smoothing.inversion import Units, integrand, rest_bound

# Where the integration ends, unless the output bias' own noise ends it before: what lies
# beyond is bounded like that of the midpoint rule.
_END = {"logistic": 5.6, "probit": 6.0, "step": math.inf}
_ORDER = 40
_CHECK_ORDER = 28
# Radians by which the output bias may turn the integrand within one interval.
_TURN = 16.0
# Intervals spent on that at most. Output biases beyond some thousand times the link's or the
# noise's own width would need more; their error shows in the estimate.
_MOST = 512


def graded_integral(units: Units, bias: Tensor, step: Tensor, link: str) -> tuple[Tensor, Tensor]:
    """Return the integral for every row, and its error.

    The error is a *measured* one, twice the distance to the integral by fewer nodes, and a
    proven bound on what lies beyond the last interval.
    ``step`` (R,) is the midpoint rule's: nothing varies faster near 0 than over a few of them.
    """
    end = min(_END[link], 6.2 / units.sigma)
    total, check = torch.zeros_like(bias), torch.zeros_like(bias)
    left = torch.zeros_like(step)
    with torch.no_grad():
        widest = (_TURN / (bias.abs() + 1e-30)).clamp_min(end / _MOST)
    while bool((left < end).any()):
        width = torch.where(left == 0, 2.0 * step, left).minimum(widest).clamp_max(end)
        width = torch.minimum(width, (end - left).clamp_min(0.0))
        total = total + _panel(units, bias, left, width, _ORDER, link)
        with torch.no_grad():
            check = check + _panel(units, bias, left, width, _CHECK_ORDER, link)
        left = torch.where(width > 0, left + width, end)
        # Rounding must not leave a sliver that never closes.
        left = torch.where(end - left < 1e-12 * end, end, left)
    with torch.no_grad():
        last = torch.full_like(step, end)
        rest = rest_bound(units.log_envelope(last), last, units.sigma, link)
        return total, 2.0 * (total - check).abs() / math.pi + rest


def _panel(
    units: Units, bias: Tensor, left: Tensor, width: Tensor, order: int, link: str
) -> Tensor:
    points, weights = (torch.as_tensor(part).to(bias).unsqueeze(1) for part in _legendre(order))
    t = left + width * points
    value = integrand(units, bias, t.clamp_min(1e-300), link)
    return (weights * width * value / t.clamp_min(1e-300)).sum(0)


@cache
def _legendre(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return 0.5 * (nodes + 1.0), 0.5 * weights
