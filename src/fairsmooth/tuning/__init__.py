"""How to choose sigma, alpha and the rest: a search over several objectives at once."""

import warnings
from typing import Any

from fairsmooth.tuning.alternatives import Alternatives
from fairsmooth.tuning.front import FrontPoint, ParetoFront
from fairsmooth.tuning.limits import SearchLimits
from fairsmooth.tuning.outcome import Found, Tuned
from fairsmooth.tuning.search import rerun, search, tune
from fairsmooth.tuning.space import SearchSpace

__all__ = [
    "Alternatives",
    "Found",
    "FrontPoint",
    "ParetoFront",
    "SearchLimits",
    "SearchSpace",
    "Tuned",
    "rerun",
    "search",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name == "Limits":
        warnings.warn(
            "fairsmooth.tuning.Limits is now SearchLimits; fairsmooth.Limits is what a guarantee "
            "keeps, and tune takes either.",
            DeprecationWarning,
            stacklevel=2,
        )
        return SearchLimits
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
