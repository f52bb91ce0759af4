"""FCRL, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import FromModule, Method, vary

METHODS = (
    Method(
        name="fcrl",
        label="FCRL",
        estimator=FromModule(f"{__name__}.classifier", "FCRLClassifier"),
        reference="Gupta et al., Controllable Guarantees for Fair Outcomes via Contrastive "
        "Information Estimation, 2021",
        optimises="demographic parity through little information on the group",
        notions="demographic parity",
        guarantees="a bound on the information, in expectation",
        grid=vary("information_weight", 1.0, 0.1, 3.0, 0.3, 0.03, 10.0),
        quick={"n_epochs": 2},
    ),
)
