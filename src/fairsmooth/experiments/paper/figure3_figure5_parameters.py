"""Figures 3 and 5: σ and α on Adult and on COMPAS."""

from dataclasses import replace

from fairsmooth.experiments.claims.claim import OURS, Claim
from fairsmooth.experiments.claims.curves import best_inside, joined, moves, on_grid, worse_at
from fairsmooth.experiments.declaration import MAIN_METRICS, Experiment

SIGMAS = (0.25, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0)
ALPHAS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
# Below the appendix's grid, where the tie lets the groups' classifiers come apart.
SMALL_ALPHAS = (0.001, 0.003, 0.01, 0.03, 0.1)
# One is varied while the other stays here; the paper does not say where it stood.
FIXED = {"sigma": 1.0, "alpha": 0.25}
METRICS = (*MAIN_METRICS, "max_distance", "epsilon")

ADULT, COMPAS = "adult-sex", "compas-race"
_GAPS = MAIN_METRICS[1:]


def _shared_claims(case: str) -> tuple[Claim, ...]:
    """Return the claims that the paper makes on both datasets or in Section 3."""
    return (
        Claim(
            "too large α costs accuracy",
            "A too large α makes all groups' classifiers the same, and accuracy suffers: the "
            "distance falls along the grid, and accuracy at its end is below the best.",
            joined(
                moves("max_distance", "alpha", case, "falls"),
                worse_at("last", "accuracy", "alpha", case),
            ),
            printed=False,
        ),
        Claim(
            "too small α costs the guarantee",
            "A too small α leaves the groups' classifiers apart: the certificate is weakest at "
            "the smallest α.",
            moves("epsilon", "alpha", case, "falls"),
            printed=False,
        ),
        Claim(
            "too large σ costs accuracy",
            "Too much noise ruins the predictions: accuracy at the largest σ is below the best.",
            worse_at("last", "accuracy", "sigma", case),
            printed=False,
        ),
        Claim(
            "larger σ is fairer",
            "Section 3.1: a larger σ gives better fairness: both gaps fall along the grid.",
            joined(*(moves(gap, "sigma", case, "falls") for gap in _GAPS)),
            printed=False,
        ),
        Claim(
            "smaller σ is more accurate",
            "Section 3.1: a smaller σ gives better accuracy: accuracy falls along the grid.",
            moves("accuracy", "sigma", case, "falls"),
            printed=False,
        ),
    )


def _optimum_inside(case: str, axis: str, symbol: str) -> Claim:
    """Return the claim that curves improve and then become worse."""
    return Claim(
        f"an optimal {symbol} inside the grid",
        f"With growing {symbol}, accuracy and both gaps first improve and then become worse.",
        best_inside(axis, case, MAIN_METRICS),
        printed=False,
    )


def _better_at_first(axis: str, symbol: str) -> Claim:
    return Claim(
        f"better at first with {symbol}",
        f"Accuracy and gaps improve at first with {symbol}: the smallest {symbol} is not the best.",
        joined(*(worse_at("first", metric, axis, COMPAS) for metric in MAIN_METRICS)),
        printed=False,
    )


def _asked_on_the_grid(claim: Claim) -> Claim:
    return replace(claim, predicate=on_grid(claim.predicate, "alpha", ALPHAS))


def _small_alpha(case: str) -> Claim:
    """Return our question: whether gaps fall where the tie is nearly let go."""
    return Claim(
        "a far smaller α is fairer",
        "Both gaps are smaller at the smallest α than at the end of the appendix's grid, while the "
        "certificate grows.",
        joined(
            *(moves(gap, "alpha", case, "rises") for gap in _GAPS),
            moves("epsilon", "alpha", case, "falls"),
        ),
        printed=False,
        whose=OURS,
    )


def _figure(
    number: int, dataset: str, case: str, claims: tuple[Claim, ...], note: str
) -> Experiment:
    return Experiment(
        name=f"figure{number}",
        paper=f"Figure {number}",
        about=f"FairSmooth over the grids of σ and α on {dataset}.",
        cases=(case,),
        methods=("fairsmooth",),
        sweep={"sigma": SIGMAS, "alpha": (*SMALL_ALPHAS, *ALPHAS)},
        fixed=FIXED,
        metrics=METRICS,
        # The paper speaks of its own grid.
        claims=(*map(_asked_on_the_grid, (*claims, *_shared_claims(case))), _small_alpha(case)),
        note=note,
    )


EXPERIMENTS = (
    _figure(
        3,
        "Adult",
        ADULT,
        (_optimum_inside(ADULT, "sigma", "σ"), _optimum_inside(ADULT, "alpha", "α")),
        "The grids are the appendix's; α below .25 is ours, and takes part in none of the paper's "
        "claims. The other parameter stays at σ = 1 or α = .25.",
    ),
    _figure(
        5,
        "COMPAS",
        COMPAS,
        (_better_at_first("sigma", "σ"), _better_at_first("alpha", "α")),
        "The paper lets the curves become stable or worse afterwards, so only their start is "
        "asked about. The attribute is not named; race is taken.",
    ),
)
