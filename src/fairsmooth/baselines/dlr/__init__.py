"""DLR, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import FromModule, Method

METHODS = (
    Method(
        name="dlr",
        label="DLR",
        estimator=FromModule(f"{__name__}.classifier", "DLRClassifier"),
        reference="Celis et al., Fair Classification with Noisy Protected Attributes, 2021",
        optimises="accuracy at a given ratio of selection or false positive rates, noisy groups",
        notions="selection rate, false positive rate",
        guarantees="on the sample, if the solver meets its constraints",
        grid=(
            {"tau": 0.9},
            {"tau": 0.8},
            {"tau": 0.9, "constraints": "smooth"},
            {"tau": 0.8, "constraints": "smooth"},
            {"tau": 0.7},
            {"tau": 0.95, "constraints": "smooth"},
        ),
        quick={"n_tries": 1},
    ),
)
