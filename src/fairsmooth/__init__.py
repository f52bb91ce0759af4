"""Classifiers with an input-agnostic group fairness certificate."""

from typing import TYPE_CHECKING

from fairsmooth._lazy import names_when_asked

if TYPE_CHECKING:
    from fairsmooth.core.certificate import Certificate, certify
    from fairsmooth.core.smoothing import smooth_probability
    from fairsmooth.estimator import FairSmoothClassifier
    from fairsmooth.exceptions import (
        FairSmoothError,
        GroupError,
        InputError,
        ModelFileError,
        NoGuarantee,
    )
    from fairsmooth.guarantees import GapGuarantee, GapMonitor, Limits, guarantee_gaps
    from fairsmooth.tuning import tune

__version__ = "0.2.0"

__all__ = [
    "Certificate",
    "FairSmoothClassifier",
    "FairSmoothError",
    "GapGuarantee",
    "GapMonitor",
    "GroupError",
    "InputError",
    "Limits",
    "ModelFileError",
    "NoGuarantee",
    "__version__",
    "certify",
    "guarantee_gaps",
    "smooth_probability",
    "tune",
]

# Where each name lives. Loaded when asked for: torch and scikit-learn take seconds to
# import, and whoever reads a certificate or asks for help needs neither.
_HOMES = {
    "Certificate": "fairsmooth.core.certificate",
    "FairSmoothClassifier": "fairsmooth.estimator",
    "FairSmoothError": "fairsmooth.exceptions",
    "GapGuarantee": "fairsmooth.guarantees",
    "GapMonitor": "fairsmooth.guarantees",
    "GroupError": "fairsmooth.exceptions",
    "InputError": "fairsmooth.exceptions",
    "Limits": "fairsmooth.guarantees",
    "ModelFileError": "fairsmooth.exceptions",
    "NoGuarantee": "fairsmooth.exceptions",
    "certify": "fairsmooth.core.certificate",
    "guarantee_gaps": "fairsmooth.guarantees",
    "smooth_probability": "fairsmooth.core.smoothing",
    "tune": "fairsmooth.tuning",
}
__getattr__ = names_when_asked(globals(), _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
