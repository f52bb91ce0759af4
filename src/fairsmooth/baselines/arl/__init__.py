"""ARL, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import FromModule, Method, vary

METHODS = (
    Method(
        name="arl",
        label="ARL",
        estimator=FromModule(f"{__name__}.classifier", "ARLClassifier"),
        reference="Lahoti et al., NeurIPS 2020",
        optimises="utility of the worst-off rows, without knowing the groups",
        notions="none; group-blind",
        grid=vary("adversary_learning_rate", 2.0, 0.1, 0.001, 1.0, 0.01, 0.5),
        quick={"n_steps": 80, "pretrain_steps": 40, "batch_size": 64},
    ),
)
