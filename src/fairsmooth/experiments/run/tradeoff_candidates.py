"""Who takes part in the trade-off, with which columns and parameters."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from fairsmooth.datasets import FairDataset
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.tuning import SearchLimits as Limits

# The grid of the paper's appendix.
SIGMAS = (0.25, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0)
ALPHAS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
# Columns, shares of the allowed ΔDP and ΔEO to aim at, and weights of the parity term. COMPAS is
# small: its gaps are overfitted, so that it must aim lower, and columns may be fewer.
PARITY_GRID = {
    "adult": (
        ("crossed", "binned"),
        ((1.0, 0.2), (1.0, 0.6), (0.5, 0.4)),
        (1.6, 2.1, 2.8),
    ),
    "compas": (
        ("crossed", "binned", "coarse"),
        ((0.5, 0.4), (0.0, 0.0)),
        (1.0, 3.0, 8.0),
    ),
}

Decide = Callable[[FairDataset], Any]
Fit = Callable[[FairDataset, int], tuple[Decide, float | None]]


@dataclass(frozen=True)
class Candidate:
    """A way to fit, and the columns it is fitted on."""

    columns: str
    fit: Fit


PARITY = "FairSmooth with parity"
_LOGISTIC = partial(LogisticRegression, max_iter=1000)


def candidates_of(method: str, dataset: str, limits: Limits, *, quick: bool) -> list[Candidate]:
    """Return what a method may choose from; ``quick`` takes a few of them."""
    if method == PARITY:
        return list(_parity(dataset, limits))[:: 5 if quick else 1]
    if method == "FairSmooth (paper)":
        grid = [{"sigma": s, "alpha": a} for s, a in product(SIGMAS, ALPHAS)]
        paper = [Candidate("binned", partial(_fairsmooth, options)) for options in grid]
        return paper[:: 10 if quick else 1]
    return [_FIELD[method]]


def _parity(dataset: str, limits: Limits) -> Iterator[Candidate]:
    """Yield shares of the allowed gaps to aim at, and a tie that keeps the certificate."""
    allowed = limits.max_dp or 0.0, limits.max_eo or 0.0
    for columns, shares, weight in product(*PARITY_GRID[dataset]):
        options = {
            "link": "probit",
            "sigma": 0.5,
            "alpha": 3.0,
            "group_weights": "share",
            "parity": "both",
            "parity_weight": weight,
            "parity_tolerance": (shares[0] * allowed[0], shares[1] * allowed[1]),
            "max_iter": 40,
        }
        yield Candidate(columns, partial(_fairsmooth, options))


def _fairsmooth(
    options: Mapping[str, Any], train: FairDataset, seed: int
) -> tuple[Decide, float | None]:
    clf = FairSmoothClassifier(free_reference=False, random_state=seed, **options)
    clf.fit(train.X, train.y, sensitive_features=train.sensitive_features)
    return lambda data: clf.predict(data.X), clf.certificate_.epsilon


def _plain(build: Callable[[], Any], train: FairDataset, seed: int) -> tuple[Decide, None]:
    model = build().fit(train.X.to_numpy(), train.y)
    return lambda data: model.predict(data.X.to_numpy()), None


def _reduction(constraint: str, train: FairDataset, seed: int) -> tuple[Decide, None]:
    reductions = _fairlearn("reductions")
    model = reductions.ExponentiatedGradient(_LOGISTIC(), getattr(reductions, constraint)())
    model.fit(train.X.to_numpy(), train.y, sensitive_features=train.sensitive_features)
    return lambda data: model.predict(data.X.to_numpy(), random_state=seed), None


def _thresholds(constraint: str, train: FairDataset, seed: int) -> tuple[Decide, None]:
    model = _fairlearn("postprocessing").ThresholdOptimizer(
        estimator=_LOGISTIC(), constraints=constraint, predict_method="predict_proba"
    )
    model.fit(train.X.to_numpy(), train.y, sensitive_features=train.sensitive_features)
    return lambda data: model.predict(
        data.X.to_numpy(), sensitive_features=data.sensitive_features, random_state=seed
    ), None


def _fairlearn(module: str) -> Any:
    """Import a module of fairlearn, which nothing but this comparison needs."""
    try:
        return __import__(f"fairlearn.{module}", fromlist=[module])
    except ImportError as error:
        raise InputError(
            "Expected fairlearn to be installed for this comparison, found none. "
            "Install it with: pip install 'fairsmooth[compare]'."
        ) from error


_FIELD = {
    "LogisticRegression": Candidate("binned", partial(_plain, _LOGISTIC)),
    "LogisticRegression, crossed": Candidate("crossed", partial(_plain, _LOGISTIC)),
    "Gradient boosting": Candidate("binned", partial(_plain, HistGradientBoostingClassifier)),
    "ExponentiatedGradient DP": Candidate("binned", partial(_reduction, "DemographicParity")),
    "ExponentiatedGradient EO": Candidate("binned", partial(_reduction, "EqualizedOdds")),
    "ThresholdOptimizer DP †": Candidate("crossed", partial(_thresholds, "demographic_parity")),
    "ThresholdOptimizer EO †": Candidate("crossed", partial(_thresholds, "equalized_odds")),
}
METHODS = ("FairSmooth (paper)", PARITY, *_FIELD)
