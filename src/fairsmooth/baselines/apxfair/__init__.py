"""ApxFair, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import FromModule, Method, by_notion

METHODS = (
    Method(
        name="apxfair",
        label="ApxFair",
        estimator=FromModule(f"{__name__}.classifier", "ApxFairClassifier"),
        reference="Mandal et al., Ensuring Fairness Beyond the Training Data, 2020",
        optimises="demographic parity or equalized odds under every reweighting of the sample",
        notions="demographic parity, equalized odds",
        guarantees="in the limit of many rounds, for the game on the sample",
        grid=by_notion("epsilon", 0.05, 0.02, 0.1),
        quick={"n_rounds": 20, "offset": 0.0},
    ),
)
