"""Figure 3: σ and α on Adult."""

from fairsmooth.experiments.declaration import Experiment
from fairsmooth.experiments.paper._parameter_claims import (
    ALPHAS,
    FIXED,
    METRICS,
    SIGMAS,
    optimum_inside,
    shared_claims,
)

CASE = "adult-sex"

EXPERIMENTS = (
    Experiment(
        name="figure3",
        paper="Figure 3",
        about="FairSmooth over the grids of σ and α on Adult.",
        cases=(CASE,),
        methods=("fairsmooth",),
        sweep={"sigma": SIGMAS, "alpha": ALPHAS},
        fixed=FIXED,
        metrics=METRICS,
        claims=(
            optimum_inside(CASE, "sigma", "σ"),
            optimum_inside(CASE, "alpha", "α"),
            *shared_claims(CASE),
        ),
        note="The grids are the appendix's. The other parameter stays at σ = 1 or α = .25.",
    ),
)
