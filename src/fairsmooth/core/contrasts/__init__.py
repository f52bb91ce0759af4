"""Exact bounds on contrasts of two binomial rates, also after a shift of the population."""

from fairsmooth.core.contrasts.binomial import interval
from fairsmooth.core.contrasts.bounds import Count, bound, proves, radius
from fairsmooth.core.contrasts.contrast import Contrast
from fairsmooth.core.contrasts.divergences import DIVERGENCES, Divergence

__all__ = [
    "DIVERGENCES",
    "Contrast",
    "Count",
    "Divergence",
    "bound",
    "interval",
    "proves",
    "radius",
]
