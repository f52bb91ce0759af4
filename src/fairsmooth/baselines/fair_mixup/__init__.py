"""Fair Mixup, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import DEMOGRAPHIC_PARITY, EQUALIZED_ODDS, FromModule, Method

METHODS = (
    Method(
        name="fair_mixup",
        label="Fair Mixup",
        estimator=FromModule(f"{__name__}.classifier", "FairMixupClassifier"),
        reference="Chuang and Mroueh, Fair Mixup: Fairness via Interpolation, 2021",
        optimises="demographic parity or equalized odds of mean probabilities",
        notions="demographic parity, equalized odds",
        grid=(
            {**DEMOGRAPHIC_PARITY, "penalty_weight": 0.5},
            {**EQUALIZED_ODDS, "penalty_weight": 0.5},
            {**DEMOGRAPHIC_PARITY, "penalty_weight": 0.1},
            {**EQUALIZED_ODDS, "penalty_weight": 2.0},
            {**DEMOGRAPHIC_PARITY, "penalty_weight": 0.3},
            {**EQUALIZED_ODDS, "penalty_weight": 5.0},
        ),
        quick={"n_epochs": 2, "n_iterations": 5, "batch_size": 50, "hidden_layer_sizes": (16,)},
    ),
)
