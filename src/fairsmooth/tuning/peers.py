"""Fairlearn's reductions on the same folds, swept over their bounds, to be shown beside a front."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression

from fairsmooth.exceptions import InputError
from fairsmooth.tuning.folds import Fold
from fairsmooth.tuning.front import FrontPoint
from fairsmooth.tuning.judged import CONFIDENCE, FoldCounts, Judged
from fairsmooth.tuning.limits import SearchLimits

# Of the limit, or of 0.1 where there is none. Fairlearn bounds the distance of a group's rate
# from everybody's, and each of two rates by itself, so that the bound is no gap of ours.
_SHARES = (0.1, 0.25, 0.5, 1.0)
# Theirs is 50; from 20 on, gaps and accuracy move less than from fold to fold.
_ITERATIONS = 20
_CONSTRAINTS = {"demographic parity": "DemographicParity", "equalized odds": "EqualizedOdds"}


def sweep_peers(
    folds: Sequence[Fold],
    limits: SearchLimits,
    *,
    seed: int,
    n_jobs: int = 1,
    callback: Callable[[int, int], None] | None = None,
) -> tuple[FrontPoint, ...]:
    """Fit the exponentiated gradient reduction of logistic regression at every bound."""
    require_fairlearn()
    settings = [
        (label, share * (limit or 0.1))
        for label, limit in zip(_CONSTRAINTS, (limits.max_dp, limits.max_eo), strict=True)
        for share in _SHARES
    ]
    tasks = list(product(settings, range(len(folds))))
    counted: dict[Any, FoldCounts] = {}
    for done, (task, counts) in enumerate(_run(tasks, folds, seed, n_jobs), start=1):
        counted[task] = counts
        if callback is not None:
            callback(done, len(tasks))
    return tuple(
        _point(setting, Judged(tuple(counted[setting, place] for place in range(len(folds)))))
        for setting in settings
    )


def require_fairlearn() -> Any:
    """Return its reductions, or say how to install it."""
    try:
        from fairlearn import reductions
    except ImportError as error:
        raise InputError(
            "Expected fairlearn to be installed to compare with peers, found none. "
            "Install it with: pip install 'fairsmooth[compare]'."
        ) from error
    return reductions


def _run(
    tasks: Sequence[Any], folds: Sequence[Fold], seed: int, n_jobs: int
) -> Iterator[tuple[Any, FoldCounts]]:
    if n_jobs == 1:
        yield from ((task, _judge(task[0], folds[task[1]], seed)) for task in tasks)
        return
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    found = parallel(delayed(_judge)(task[0], folds[task[1]], seed) for task in tasks)
    yield from zip(tasks, found, strict=True)


def _judge(setting: tuple[str, float], fold: Fold, seed: int) -> FoldCounts:
    label, bound = setting
    reductions = require_fairlearn()
    constraint = getattr(reductions, _CONSTRAINTS[label])(difference_bound=bound)
    learner = LogisticRegression(solver="newton-cholesky", max_iter=50)
    model = reductions.ExponentiatedGradient(learner, constraint, max_iter=_ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, about their own dependencies
        model.fit(fold.X, fold.y, sensitive_features=fold.codes)
        decided = model.predict(fold.X_judged, random_state=seed)
    return FoldCounts.of(decided, fold.y_judged, fold.groups_judged, None)


def _point(setting: tuple[str, float], judged: Judged) -> FrontPoint:
    label, bound = setting
    return FrontPoint(
        f"fairlearn, {label} within {bound:.4g}",
        {"constraint": label, "difference_bound": bound},
        judged.measured,
        judged.intervals(CONFIDENCE),
    )
