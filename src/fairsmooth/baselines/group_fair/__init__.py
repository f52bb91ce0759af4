"""Group-Fair, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import FromModule, Method, vary

METHODS = (
    Method(
        name="group_fair",
        label="Group-Fair",
        estimator=FromModule(f"{__name__}.classifier", "GroupFairClassifier"),
        reference="Celis et al., Classification with Fairness Constraints, 2019",
        optimises="accuracy at a given ratio of selection (or other) rates",
        notions="selection, discovery, true and false positive rate",
        guarantees="optimal if the estimated probabilities were true",
        # The authors' density alone: density="logistic" is an extension of ours.
        grid=vary("tau", 0.8, 0.9, 0.7, 0.95, 0.6, 1.0),
        # The authors' code as packaged in AIF360, with its defaults.
        published={"notion": "false_discovery_rate", "tau": 0.8, "solver": "gradient"},
        quick={"stride": 40},
    ),
)
