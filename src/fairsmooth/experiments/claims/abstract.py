"""What the paper's abstract claims of every setting."""

from collections.abc import Sequence

from fairsmooth.experiments.claims.claim import Claim
from fairsmooth.experiments.claims.comparisons import better_in_all
from fairsmooth.experiments.declaration import MAIN_METRICS


def fairer_than_without(cases: Sequence[str]) -> Claim:
    """Both gaps are smaller than those of the unconstrained control, in each of some cases."""
    return Claim(
        "fairer than plain logistic regression",
        "The abstract: training with smoothing and tie makes the classifier fair. Both "
        "gaps are smaller than those of the unconstrained control, on both datasets.",
        better_in_all("unconstrained", cases, MAIN_METRICS[1:]),
        printed=False,
    )
