"""Accuracy, gaps and certificate together, beside the field and beside what any rule can do."""

from fairsmooth.experiments.claims.claim import Claim
from fairsmooth.experiments.claims.comparisons import beyond
from fairsmooth.experiments.claims.curves import joined
from fairsmooth.experiments.declaration import Experiment

METHOD = "FairSmooth with parity"
GOALS = {
    "adult-sex": {
        "accuracy": 0.84, "demographic_parity": 0.05, "equalized_odds_sum": 0.08, "epsilon": 0.0147,
    },
    "adult-race": {
        "accuracy": 0.855, "demographic_parity": 0.04, "equalized_odds_sum": 0.06,
        "epsilon": 0.0147,
    },
    "compas-sex": {
        "accuracy": 0.67, "demographic_parity": 0.05, "equalized_odds_sum": 0.10, "epsilon": 0.0114,
    },
    "compas-race": {
        "accuracy": 0.66, "demographic_parity": 0.03, "equalized_odds_sum": 0.08, "epsilon": 0.0114,
    },
}  # fmt: skip


def _reaches_its_goals(case: str) -> Claim:
    words = ", ".join(f"{name.replace('_', ' ')} {goal:g}" for name, goal in GOALS[case].items())
    return Claim(
        f"{case} reaches its goals",
        f"{METHOD} is on the good side of {words}, all together.",
        joined(*(beyond(name, goal, (case,), method=METHOD) for name, goal in GOALS[case].items())),
        printed=False,
    )


EXPERIMENTS = (
    Experiment(
        name="tradeoff",
        paper="",
        about="Accuracy within limits on both gaps and the certificate, beside the field.",
        cases=tuple(GOALS),
        kind="tradeoff",
        fixed=GOALS,
        metrics=("accuracy", "demographic_parity", "equalized_odds_sum", "epsilon"),
        claims=tuple(_reaches_its_goals(case) for case in GOALS),
        note="Every method chooses its parameters by cross-validation inside the training part. "
        "† sees the group when it predicts. The ceilings are no method: the best accuracy of any "
        "randomised rule of two cross-fitted forecasts, fitted to the rows it is judged on.",
    ),
)
