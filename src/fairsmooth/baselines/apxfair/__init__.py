"""ApxFair, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import DEMOGRAPHIC_PARITY, EQUALIZED_ODDS, FromModule, Method

METHODS = (
    Method(
        name="apxfair",
        label="ApxFair",
        estimator=FromModule(f"{__name__}.classifier", "ApxFairClassifier"),
        reference="Mandal et al., Ensuring Fairness Beyond the Training Data, 2020",
        optimises="demographic parity or equalized odds under every reweighting of the sample",
        notions="demographic parity, equalized odds",
        guarantees="in the limit of many rounds, for the game on the sample",
        # The first has the constants published for COMPAS. Of the others none has the offset,
        # which on Adult's 18 columns alone ends in refusing everyone; the bound decides, while
        # epsilon changes nothing in its usual range.
        grid=(
            DEMOGRAPHIC_PARITY,
            {**EQUALIZED_ODDS, "bound": 0.03, "offset": 0.0},
            {**DEMOGRAPHIC_PARITY, "bound": 0.08, "offset": 0.0},
            {**EQUALIZED_ODDS, "bound": 0.01, "offset": 0.0},
            {**DEMOGRAPHIC_PARITY, "bound": 0.04, "offset": 0.0},
            {**EQUALIZED_ODDS, "bound": 0.11, "offset": 0.0},
        ),
        quick={"n_rounds": 20, "offset": 0.0},
    ),
)
