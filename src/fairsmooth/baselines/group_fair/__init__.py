"""Group-Fair, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import FromModule, Method

METHODS = (
    Method(
        name="group_fair",
        label="Group-Fair",
        estimator=FromModule(f"{__name__}.classifier", "GroupFairClassifier"),
        reference="Celis et al., Classification with Fairness Constraints, 2019",
        optimises="accuracy at a given ratio of selection (or other) rates",
        notions="selection, discovery, true and false positive rate",
        guarantees="optimal if the estimated probabilities were true",
        grid=(
            {"tau": 0.8},
            {"tau": 0.9},
            {"tau": 0.8, "density": "logistic"},
            {"tau": 0.9, "density": "logistic"},
            {"tau": 0.7},
            {"tau": 0.95, "density": "logistic"},
        ),
        quick={"stride": 40},
    ),
)
