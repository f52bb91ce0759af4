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
        # What decides is the bound: epsilon changes nothing in its usual range.
        grid=(
            DEMOGRAPHIC_PARITY,
            EQUALIZED_ODDS,
            {**DEMOGRAPHIC_PARITY, "bound": 0.02},
            {**EQUALIZED_ODDS, "bound": 0.03},
            {**DEMOGRAPHIC_PARITY, "bound": 0.1},
            {**EQUALIZED_ODDS, "bound": 0.004},
        ),
        quick={"n_rounds": 20, "offset": 0.0},
    ),
)
