"""Unconstrained, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import FromModule, Method, vary

METHODS = (
    Method(
        name="unconstrained",
        label="Unconstrained",
        estimator=FromModule(f"{__name__}.classifier", "UnconstrainedClassifier"),
        reference="Cox, The Regression Analysis of Binary Sequences, 1958",
        optimises="accuracy",
        guarantees="the optimum of its loss, without hidden layers",
        grid=vary("C", 1.0, 0.1, 0.01, 10.0, 0.001, 100.0),
    ),
)
