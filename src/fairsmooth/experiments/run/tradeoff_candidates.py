"""Who takes part in the trade-off, on which columns, and what each may choose from."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from fairsmooth.datasets import FairDataset
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.experiments.beyond.tradeoff import OURS, REDUCTION
from fairsmooth.tuning import SearchLimits

# Shares of the allowed ΔDP and ΔEO that our rule aims at on the rows it is fitted on, the
# loosest first, group-blind and told the group. COMPAS is small, so that it shows larger
# gaps on new rows: it must aim lower, most of all where the group is forecast.
AIMS = {
    "adult": (((1.0, 0.78), (0.97, 0.65)), ((1.0, 0.78), (0.97, 0.65))),
    "compas": (
        ((0.7, 0.5), (0.4, 0.25), (0.1, 0.1)),
        ((0.5, 0.8), (0.5, 0.65)),
    ),
}
# fairlearn's difference_bound, which limits the distance of every group from all rows together.
BOUNDS = {"adult": (0.002, 0.02), "compas": (0.002, 0.015, 0.04)}
CONSTRAINTS = ("DemographicParity", "EqualizedOdds")

Figures = dict[str, float]
Decide = Callable[[FairDataset], Any]
Fit = Callable[[FairDataset, int], tuple[Decide, Figures]]


@dataclass(frozen=True)
class Candidate:
    """A way to fit, and its place on an axis if it is one of several.

    Attributes
    ----------
    fit : callable
        Takes rows and a seed; returns how to decide, and figures of the fitted model.
    axis, value : str, float or None
        What is varied, and where this one stands.
    """

    fit: Fit
    axis: str = ""
    value: float | None = None


@dataclass(frozen=True)
class Entrant:
    """A method, the columns it sees, and its candidates: by dataset, limits and sight."""

    name: str
    columns: str
    candidates: Callable[[str, SearchLimits, bool], list[Candidate]]
    blind: bool = True
    told: bool = True


def entrants(*, told: bool) -> list[Entrant]:
    """Return who takes part group-blind, or told the group."""
    return [each for each in _ENTRANTS if (each.told if told else each.blind)]


def _rules(dataset: str, limits: SearchLimits, told: bool) -> list[Candidate]:
    allowed = limits.max_dp or 0.0, limits.max_eo or 0.0
    return [
        Candidate(
            partial(_decisions, (dp * allowed[0], eo * allowed[1])),
            f"aim at {eo:g} of ΔEO, and of ΔDP at",
            dp,
        )
        for dp, eo in AIMS[dataset][told]
    ]


def _decisions(aim: tuple[float, float], train: FairDataset, seed: int) -> tuple[Decide, Figures]:
    clf = FairSmoothClassifier(
        link="probit",
        sigma=0.5,
        alpha=3.0,
        group_weights="share",
        parity="both",
        parity_solver="decisions",
        parity_tolerance=aim,
        random_state=seed,
    )
    clf.fit(train.X, train.y, sensitive_features=train.sensitive_features)
    free = np.asarray(clf.free_group_parameters_)
    apart = float(np.linalg.norm(clf.parameters_ - free, axis=1).max())
    slope = 1.0 if clf.rule_.calibration is None else clf.rule_.calibration.slope
    figures = {
        "epsilon": clf.certificate_.epsilon,
        # How far the overall score may be from that of a group's free classifier (alpha = 0).
        "free_distance": apart,
        "free_epsilon": float(2.0 * norm.cdf(slope * apart / (2.0 * clf.sigma)) - 1.0),
    }
    return lambda data: clf.predict(data.X), figures


def _reductions(dataset: str, limits: SearchLimits, told: bool) -> list[Candidate]:
    return [
        Candidate(partial(_reduction, constraint, bound), constraint, bound)
        for constraint in CONSTRAINTS
        for bound in BOUNDS[dataset]
    ]


def _reduction(
    constraint: str, bound: float, train: FairDataset, seed: int
) -> tuple[Decide, Figures]:
    reductions = _fairlearn("reductions")
    # Few columns, many rows: Newton's steps end in a fraction of the time, at the same optimum.
    learner = LogisticRegression(solver="newton-cholesky", C=100.0)
    limit = getattr(reductions, constraint)(difference_bound=bound)
    model = reductions.ExponentiatedGradient(learner, limit)
    model.fit(train.X.to_numpy(), train.y, sensitive_features=train.sensitive_features)
    return lambda data: model.predict(data.X.to_numpy(), random_state=seed), {}


def _thresholds(constraint: str, train: FairDataset, seed: int) -> tuple[Decide, Figures]:
    model = _fairlearn("postprocessing").ThresholdOptimizer(
        estimator=LogisticRegression(C=100.0, max_iter=1000),
        constraints=constraint,
        predict_method="predict_proba",
    )
    model.fit(train.X.to_numpy(), train.y, sensitive_features=train.sensitive_features)
    return lambda data: model.predict(
        data.X.to_numpy(), sensitive_features=data.sensitive_features, random_state=seed
    ), {}


def _plain(build: Callable[[], Any], train: FairDataset, seed: int) -> tuple[Decide, Figures]:
    model = build().fit(train.X, train.y)
    return lambda data: model.predict(data.X), {}


def _alone(fit: Fit) -> Callable[[str, SearchLimits, bool], list[Candidate]]:
    return lambda dataset, limits, told: [Candidate(fit)]


def _fairlearn(module: str) -> Any:
    """Import a module of fairlearn, which nothing but this comparison needs."""
    try:
        return __import__(f"fairlearn.{module}", fromlist=[module])
    except ImportError as error:
        raise InputError(
            "Expected fairlearn to be installed for this comparison, found none. "
            "Install it with: pip install 'fairsmooth[compare]'."
        ) from error


_LOGISTIC = partial(LogisticRegression, max_iter=1000)
_BOOSTING = partial(HistGradientBoostingClassifier, random_state=0)
_MAJORITY = partial(DummyClassifier, strategy="most_frequent")
_ENTRANTS = (
    Entrant(OURS, "forecasts", _rules),
    Entrant(REDUCTION, "forecasts", _reductions),
    *(
        Entrant(
            f"ThresholdOptimizer {label}",
            "forecasts",
            _alone(partial(_thresholds, constraint)),
            blind=False,
        )
        for label, constraint in (("DP", "demographic_parity"), ("EO", "equalized_odds"))
    ),
    Entrant("LogisticRegression", "binned", _alone(partial(_plain, _LOGISTIC))),
    Entrant("Gradient boosting", "binned", _alone(partial(_plain, _BOOSTING))),
    Entrant("majority", "binned", _alone(partial(_plain, _MAJORITY)), told=False),
)
