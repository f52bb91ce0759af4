"""Implicit, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import FromModule, Method, vary

METHODS = (
    Method(
        name="implicit",
        label="Implicit",
        estimator=FromModule(f"{__name__}.classifier", "ImplicitPathAlignmentClassifier"),
        reference="Shui et al., Fair Representation Learning through Implicit Path Alignment, 2022",
        optimises="sufficiency (predictive parity) through equal optimal heads",
        needs_group_at_prediction=True,
        notions="sufficiency",
        grid=vary("alignment_weight", 3e-4, 2e-3, 1e-4, 1e-3, 5e-3, 1e-2),
        quick={"n_iterations": 5, "batch_size": 50, "hidden_layer_sizes": (16,)},
    ),
)
