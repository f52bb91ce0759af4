"""Classifiers with an input-agnostic group fairness certificate."""

from typing import Any

from fairsmooth.core.certificate import Certificate, certify
from fairsmooth.core.smoothing import smooth_probability
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import FairSmoothError, GroupError, InputError, ModelFileError

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "FairSmoothClassifier",
    "FairSmoothError",
    "GroupError",
    "InputError",
    "ModelFileError",
    "__version__",
    "certify",
    "smooth_probability",
]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: searching needs Optuna, predicting should not wait for it.
    if name == "tune":
        from fairsmooth.tuning import tune

        return tune
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
