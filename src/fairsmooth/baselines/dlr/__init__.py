"""DLR, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import FromModule, Method, vary

METHODS = (
    Method(
        name="dlr",
        label="DLR",
        estimator=FromModule(f"{__name__}.classifier", "DLRClassifier"),
        reference="Celis et al., Fair Classification with Noisy Protected Attributes, 2021",
        optimises="accuracy at a given ratio of selection or false positive rates, noisy groups",
        notions="selection rate, false positive rate",
        guarantees="on the sample, if the solver meets its constraints",
        # The authors' constraints alone: constraints="smooth" is an extension of ours. The first
        # is the authors' example, without the flipped groups, which are their experiment.
        grid=vary("tau", 0.9, 0.8, 0.7, 0.95, 0.6, 1.0),
        quick={"n_tries": 1},
    ),
)
