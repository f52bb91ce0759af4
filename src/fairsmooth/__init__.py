"""Classifiers with an input-agnostic group fairness certificate."""

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
