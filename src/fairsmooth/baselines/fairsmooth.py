"""FairSmooth as one method among the others, whole and with a part left out."""

from functools import partial

from fairsmooth.baselines._base import Method
from fairsmooth.estimator import FairSmoothClassifier

_REFERENCE = "Jin et al., Input-agnostic Certified Group Fairness, ICML 2022"

METHODS = (
    Method(
        name="fairsmooth",
        label="FairSmooth",
        estimator=FairSmoothClassifier,
        reference=_REFERENCE,
        optimises="accuracy of smoothed group classifiers, tied to each other",
    ),
    Method(
        name="fairsmooth_s",
        label="FairSmooth-S",
        estimator=partial(FairSmoothClassifier, alpha=0.0),
        reference=f"{_REFERENCE}, smoothing only",
        optimises="accuracy of smoothed group classifiers, without the tie",
    ),
    Method(
        name="fairsmooth_d",
        label="FairSmooth-D",
        estimator=partial(FairSmoothClassifier, sigma=0.0),
        reference=f"{_REFERENCE}, disparity term only",
        optimises="accuracy of group classifiers tied to each other, without smoothing",
    ),
)
