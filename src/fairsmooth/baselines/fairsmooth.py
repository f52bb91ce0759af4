"""FairSmooth as one method among the others: whole, with a part left out, and extended."""

from functools import partial
from typing import Any

from fairsmooth.baselines._base import FromModule, Method, vary

_CLASSIFIER = FromModule("fairsmooth.estimator", "FairSmoothClassifier")
_REFERENCE = "Jin et al., Input-agnostic Certified Group Fairness, ICML 2022"
# Rows are encoded to 0 and 1, models are linear, smoothing is exact. The experiments do not ask
# for the tying cost, so the second training that it needs is left out.
_IN_EXPERIMENTS: dict[str, Any] = {
    "page": "../theory.md",
    "fixed": {"free_reference": False},
    "quick": {"max_iter": 20},
}

METHODS = (
    Method(
        name="fairsmooth",
        label="FairSmooth",
        estimator=_CLASSIFIER,
        reference=_REFERENCE,
        optimises="accuracy of smoothed group classifiers, tied to each other",
        notions="the certificate",
        guarantees="for every input, see [theory](../theory.md)",
        grid=(
            {"sigma": 1.0, "alpha": 0.25},
            {"sigma": 0.25, "alpha": 0.25},
            {"sigma": 1.0, "alpha": 1.0},
            {"sigma": 0.5, "alpha": 1.5},
            {"sigma": 2.0, "alpha": 0.25},
            {"sigma": 0.25, "alpha": 1.0},
        ),
        **_IN_EXPERIMENTS,
    ),
    Method(
        name="fairsmooth_s",
        label="FairSmooth-S",
        estimator=partial(_CLASSIFIER, alpha=0.0),
        reference=f"{_REFERENCE}, smoothing only",
        optimises="accuracy of smoothed group classifiers, without the tie",
        notions="the certificate",
        guarantees="for every input, usually weak",
        grid=vary("sigma", 1.0, 0.25, 0.5, 1.5, 2.0, 1.25),
        **_IN_EXPERIMENTS,
    ),
    Method(
        name="fairsmooth_d",
        label="FairSmooth-D",
        estimator=partial(_CLASSIFIER, sigma=0.0),
        reference=f"{_REFERENCE}, disparity term only",
        optimises="accuracy of group classifiers tied to each other, without smoothing",
        grid=vary("alpha", 0.25, 1.0, 0.5, 1.5, 0.75, 1.25),
        **_IN_EXPERIMENTS,
    ),
    Method(
        name="fairsmooth_parity",
        label="FairSmooth + parity term (extension)",
        estimator=partial(
            _CLASSIFIER,
            sigma=1.0,
            alpha=0.25,
            parity="both",
            parity_weight=1.0,
            link="probit",
        ),
        reference="this library",
        optimises="as FairSmooth, and small gaps on the training rows",
        notions="the certificate; demographic parity, equalized odds",
        guarantees="for every input, see [theory](../theory.md)",
        grid=vary("parity_weight", 1.0, 0.3, 3.0, 0.1, 10.0, 0.03),
        **_IN_EXPERIMENTS,
    ),
)
