r"""What is claimed for scores of linear models: the mixtures' error, and that of rounded logits.

A logit is a sum of ``d + 1`` products. Where large ones cancel, what rounding leaves is small
beside them and not beside the logit: it moves the mean by at most
:math:`u(d + 16)(\lVert w\rVert\lVert x\rVert + |b|)`, ``u`` the last digit, and the score by at
most that over :math:`\sqrt{2\pi}` times the larger of the scale and the link's own width.
"""

import math
from typing import Any

from fairsmooth.core.smoothing.mixtures import LINEAR_ERROR

LAST_DIGIT = 2.0**-52
# What rounding of one number adds where relative error says nothing, below the normal range.
UNDERFLOW = 2.0**-1022
# What is allowed for the arithmetic of a link.
LINK_ERROR = 8.0 * LAST_DIGIT
# Part of the claim that is left for rounding; more is added to it.
_LEFT = 5e-10


def rounded_logits(length: Any, bias: Any, *, n_features: int, sigma: float) -> Any:
    """Bound what rounding of logits does to the score of any row whatever.

    ``length`` of the weights and ``bias`` are numbers or tensors.

    Examples
    --------
    >>> rounded_logits(5.0, 1.0, n_features=10, sigma=0.5) < 1e-12
    True
    """
    return _digits(n_features) * ((length + abs(bias)) / sigma) + _lost(n_features, sigma)


def needs_more(error: float) -> bool:
    """Tell whether what rounding does exceeds its part of the usual claim."""
    return not error <= _LEFT


def linear_error(
    length: Any, bias: Any, scale: Any, *, n_features: int, sigma: float, link: str
) -> Any:
    """Return the claimed error of rows whose logits have the standard deviation ``scale``.

    Arrays or tensors that broadcast; at most a few times :data:`LINEAR_ERROR` unless products
    beyond a million cancel in the logit.
    """
    # Half of the sum is at most the larger one, and nothing overflows.
    wide = scale + (0.0 if link == "step" else 1.0)
    moved = (length / sigma) * (scale / wide) + abs(bias) / wide
    return LINEAR_ERROR + _digits(n_features) * moved + _lost(n_features, sigma)


def moved_logit(size: Any, *, n_features: int) -> Any:
    """Bound what rounding does to a logit; ``size`` is what the sizes of its products add up to."""
    return (n_features + 16) * (1.01 * LAST_DIGIT * size + UNDERFLOW)


def _lost(n_features: int, sigma: float) -> float:
    """Bound what is lost below the range of float64, beside noise that is as small."""
    return (n_features + 16) * 2.0**-1074 / sigma


def _digits(n_features: int) -> float:
    return LAST_DIGIT * (n_features + 16) * math.sqrt(2.0 / math.pi)
