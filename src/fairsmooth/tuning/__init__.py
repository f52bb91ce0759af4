"""How to choose sigma, alpha and the rest: a search over several objectives at once."""

from fairsmooth.tuning.search import tune
from fairsmooth.tuning.space import SearchSpace
from fairsmooth.tuning.trials import Limits, Tuned

__all__ = ["Limits", "SearchSpace", "Tuned", "tune"]
