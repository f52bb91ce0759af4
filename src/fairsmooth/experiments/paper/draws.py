"""The appendix's number of draws N: what sampling costs, and how far it errs."""

from fairsmooth.experiments.claims.claim import Claim
from fairsmooth.experiments.claims.draws import error_below, slower_than_exact
from fairsmooth.experiments.declaration import Experiment

DRAWS = (500, 1000, 5000, 10_000, 50_000, 100_000)
MODELS = {
    "linear": {"sigma": 1.0, "alpha": 0.25},
    "network": {
        "sigma": 0.5,
        "alpha": 0.25,
        "hidden_layer_sizes": (64,),
        "max_iter": 2,
        "batch_size": 256,
    },
}

EXPERIMENTS = (
    Experiment(
        name="draws",
        paper="Section 3.2, Appendix",
        about="Seconds and error of N weight draws against exact smoothing.",
        cases=("adult-sex", "compas-race"),
        kind="draws",
        sweep={"n_draws": DRAWS},
        fixed=MODELS,
        metrics=("largest_error", "mean_error", "decisions_changed", "draw_seconds", "slowdown"),
        claims=(
            Claim(
                "error below .01 at 100,000 draws",
                "With 100,000 draws the error of a score is below .01 with probability 99.7 %: "
                "none of the rows scored errs by more.",
                error_below(0.01, 100_000),
                printed=False,
            ),
            Claim(
                "deterministic integration is not practical",
                "Deterministic integration costs too much, so sampling is needed: at 100,000 "
                "draws sampling is faster than exact smoothing.",
                slower_than_exact(100_000),
                printed=False,
            ),
        ),
        note="Linear model and one hidden layer of 64 units, the latter trained for two epochs on "
        "2,000 rows: what is measured is prediction.",
    ),
)
