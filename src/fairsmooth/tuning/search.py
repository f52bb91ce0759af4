"""The front door: from rows and limits to a chosen model, and what else could be had."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairsmooth import _validate
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.tuning.folds import Folds, SearchRows
from fairsmooth.tuning.front import FrontPoint
from fairsmooth.tuning.limits import SHARE, Aim, SearchLimits
from fairsmooth.tuning.outcome import Found, Tuned, conclude
from fairsmooth.tuning.peers import require_fairlearn, sweep_peers
from fairsmooth.tuning.records import TrialRecord, search_digest
from fairsmooth.tuning.running import run_search
from fairsmooth.tuning.sampling import Plan, require_optuna
from fairsmooth.tuning.space import SearchSpace
from fairsmooth.tuning.work import run_trial

N_FOLDS = 4


def tune(
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    limits: Any = None,
    space: SearchSpace | None = None,
    n_trials: int = 50,
    n_jobs: int = 1,
    validation_size: float | None = None,
    storage: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    callback: Callable[[int], None] | None = None,
    **options: Any,
) -> Tuned:
    """Search for parameters that trade accuracy, gaps and certificate as asked.

    Rows are cut into folds. A trial trains one model per fold, on the other folds, so that
    every row is decided once by a model that had not seen it; accuracy and gaps are those of all
    these decisions together. After each fold, a trial that is clearly beaten, or clearly beyond
    the limits, is stopped. Rows that a user keeps for testing never enter. Trial
    number i depends on the rows, the settings, the seed and the trials of earlier rounds, and on
    nothing else: the same seed gives the same trials for any number of jobs, interrupted or not.

    Parameters
    ----------
    X, y, sensitive_features : array-likes
        Training rows, labels and groups.
    limits : SearchLimits, fairsmooth.Limits or mapping, optional
        What must be kept: ``max_dp``, ``max_eo``, ``max_epsilon``.
    space : SearchSpace, optional
        What may be chosen.
    n_trials : int
        Number of trials, those of an earlier, interrupted search included.
    n_jobs : int
        Processes to work in.
    validation_size : float, optional
        Share of the rows in a fold, instead of ``n_folds``.
    storage : path, optional
        File that keeps the trials of one search. If it was interrupted, it goes on from
        there; a file of another search (other rows or settings) is refused.
    random_state : int
        Seeds the folds, the search and every training.
    callback : callable, optional
        Called with the number of finished trials, when it changes.
    **options
        ``n_folds`` (4); ``aim`` (0.9), the share of each limit on a gap that a trial may use
        up, or ``"guarantee"``, with ``guarantee_rows`` the number of new rows that must be
        likely to guarantee the limits; ``with_peers``, to show fairlearn's reductions beside
        the front.

    Returns
    -------
    Tuned
        The chosen model, the front, and the record of what was tried.
    """
    if validation_size is not None:
        _validate.in_range(0.05, 0.5, validation_size=validation_size)
        options.setdefault("n_folds", round(1.0 / validation_size))
    rows = array_rows(X, y, sensitive_features)
    found = search(
        rows, limits=limits, space=space, n_trials=n_trials, n_jobs=n_jobs, storage=storage,
        seed=random_state, callback=callback, **options,
    )  # fmt: skip
    classifier = FairSmoothClassifier(**found.parameters, random_state=random_state)
    classifier.fit(X, y, sensitive_features=sensitive_features)
    return Tuned.of(found, classifier)


def search(
    rows: SearchRows,
    *,
    limits: Any = None,
    space: SearchSpace | None = None,
    n_trials: int = 50,
    n_jobs: int = 1,
    storage: str | os.PathLike[str] | None = None,
    seed: int = 0,
    callback: Callable[[int], None] | None = None,
    n_folds: int = N_FOLDS,
    aim: float | str = SHARE,
    guarantee_rows: int | None = None,
    with_peers: bool | Callable[[int, int], None] = False,
) -> Found:
    """Search as :func:`tune` does, on rows in several encodings, and train no last model.

    ``with_peers`` may be a function that is told how far they are, as x of y.
    """
    _validate.positive(n_trials=n_trials, n_jobs=n_jobs)
    _validate.in_range(2, 20, n_folds=n_folds)
    require_optuna()
    if with_peers:
        require_fairlearn()
    plan = plan_of(rows, limits, space, seed, n_folds, Aim.of(aim, guarantee_rows))
    folds = Folds(rows, n_folds, seed)
    records = run_search(
        folds,
        plan,
        n_trials=n_trials,
        n_jobs=n_jobs,
        storage=None if storage is None else Path(storage),
        callback=callback,
    )
    peers: tuple[FrontPoint, ...] = ()
    if with_peers:
        peers = sweep_peers(
            folds.encoded(plan.space.columns[0]), plan.limits, seed=seed, n_jobs=n_jobs,
            callback=with_peers if callable(with_peers) else None,
        )  # fmt: skip
    return conclude(records, plan, n_rows=len(rows.y), digest=rows.digest, peers=peers)


def rerun(rows: SearchRows, tuned: Found, number: int) -> TrialRecord:
    """Run one trial of a search again, on all its folds, from what its record says.

    Counts, gaps and certified bounds are the same numbers as then.
    """
    numbers = tuned.trials["trial"].tolist()
    if number not in numbers:
        raise InputError(f"Expected the number of a trial, 0 to {max(numbers)}, got {number!r}.")
    row = tuned.trials.iloc[numbers.index(number)]
    setting = tuned.alternatives.setting
    folds = Folds(rows, setting["folds"], setting["seed"]).encoded(row["columns"])
    return run_trial(folds, row["parameters"], number=number, point={}, seed=int(row["seed"]))


def array_rows(X: Any, y: Any, sensitive_features: Any) -> SearchRows:
    """Return rows that are numbers already, for :func:`search` and :func:`rerun`."""
    return SearchRows.of_arrays(
        X, y, sensitive_features, digest=lambda arrays: search_digest(arrays, {})
    )


def plan_of(
    rows: SearchRows, limits: Any, space: SearchSpace | None, seed: int, n_folds: int, aim: Aim
) -> Plan:
    """Fix what decides the trials, before the first of them."""
    chosen = space or SearchSpace()
    unknown = set(chosen.columns) - set(rows.encodings)
    if unknown:
        raise InputError(
            f"Expected columns from {sorted(rows.encodings)} in the search space, got "
            f"{sorted(unknown)}."
        )
    return Plan(SearchLimits.of(limits), aim, chosen, n_folds, seed)
