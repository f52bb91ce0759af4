"""The search itself: trials on held-out rows, resumable, in parallel processes."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from fairsmooth import _validate
from fairsmooth._random import seed_from
from fairsmooth.data.groups import encode_groups
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.metrics import accuracy, demographic_parity_gap, equalized_odds_gap
from fairsmooth.tuning.space import SearchSpace
from fairsmooth.tuning.trials import OBJECTIVES, Limits, Tuned, choose, pareto_front

# The first rung trains on this share of the rows; what is hopeless there goes no further.
_FIRST_RUNG = 0.2
# A trial is hopeless if another is this much better in accuracy and no worse in the rest.
_PRUNING_MARGIN = 0.03


def tune(
    X: Any,
    y: Any,
    *,
    sensitive_features: Any,
    limits: Limits | None = None,
    space: SearchSpace | None = None,
    n_trials: int = 50,
    n_jobs: int = 1,
    validation_size: float = 0.25,
    storage: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    callback: Callable[[int], None] | None = None,
) -> Tuned:
    """Search for parameters that trade accuracy, gaps and certificate as asked.

    Every trial trains on one part of the rows and is judged on another part of them;
    rows that a user keeps for testing never enter. With one job, the same seed gives
    the same trials.

    Parameters
    ----------
    X, y, sensitive_features : array-likes
        Training rows, labels and groups.
    limits : Limits, optional
        What must be kept on the held-out part: ``max_dp``, ``max_eo``, ``max_epsilon``.
    space : SearchSpace, optional
        What may be chosen.
    n_trials : int
        Number of trials, those of an earlier, interrupted search included.
    n_jobs : int
        Processes to work in.
    validation_size : float
        Share of the rows that trials are judged on.
    storage : path, optional
        File that keeps the trials; a search that was interrupted goes on from it.
    random_state : int
        Seeds the split, the search and every training.
    callback : callable, optional
        Called with the number of finished trials, when it changes.

    Returns
    -------
    Tuned
    """
    _validate.positive(n_trials=n_trials, n_jobs=n_jobs)
    _validate.in_range(0.05, 0.9, validation_size=validation_size)
    limits, space = limits or Limits(), space or SearchSpace()
    work = _Work.of(X, y, sensitive_features, validation_size, random_state)
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(storage) if storage is not None else Path(folder) / "trials.journal"
        _run(work, journal, _Plan(limits, space, n_trials, n_jobs, random_state), callback)
        table = _table(journal, space, limits)
    position, feasible = choose(table[list(OBJECTIVES)], limits)
    table["pareto"] = pareto_front(table)
    table["feasible"] = [limits.excess(row) == 0.0 for _, row in table.iterrows()]
    table["chosen"] = np.arange(len(table)) == position
    parameters = dict(table["parameters"].iloc[position])
    classifier = FairSmoothClassifier(**parameters, random_state=random_state)
    classifier.fit(X, y, sensitive_features=sensitive_features)
    measured = {name: float(table[name].iloc[position]) for name in OBJECTIVES}
    return Tuned(table, parameters, measured, feasible, classifier)


@dataclass(frozen=True)
class _Plan:
    limits: Limits
    space: SearchSpace
    n_trials: int
    n_jobs: int
    seed: int


@dataclass(frozen=True)
class _Work:
    """The rows, cut into the part that trials learn from and the part that judges them."""

    X: Any
    y: NDArray[Any]
    groups: NDArray[Any]
    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    first_rung: NDArray[np.intp]

    @classmethod
    def of(cls, X: Any, y: Any, sensitive: Any, validation_size: float, seed: int) -> "_Work":
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
        encoded = encode_groups(sensitive, n_rows=len(y))
        cells = pd.factorize(y)[0] * len(encoded.labels) + encoded.codes
        smallest = np.bincount(cells)[np.unique(cells)].min()
        if smallest < 4:
            raise InputError(
                "Expected at least 4 rows of every label in every group to hold some out, "
                f"got {smallest}. Merge small groups."
            )
        rows = np.arange(len(y))
        train, validation = train_test_split(
            rows, test_size=validation_size, random_state=seed % 2**32, stratify=cells
        )
        rung, _ = train_test_split(
            train, train_size=_FIRST_RUNG, random_state=seed % 2**32, stratify=cells[train]
        )
        return cls(X, y, encoded.codes, train, validation, rung)

    def measure(
        self, parameters: dict[str, Any], rows: NDArray[np.intp], seed: int
    ) -> dict[str, float]:
        classifier = FairSmoothClassifier(**parameters, free_reference=False, random_state=seed)
        classifier.fit(self.X[rows], self.y[rows], sensitive_features=self.groups[rows])
        decided = classifier.predict(self.X[self.validation])
        truth, groups = self.y[self.validation], self.groups[self.validation]
        positive = classifier.classes_[1]
        hits, calls = truth == positive, decided == positive
        return {
            "accuracy": accuracy(hits, calls),
            "demographic_parity": demographic_parity_gap(hits, calls, sensitive_features=groups),
            "equalized_odds_sum": equalized_odds_gap(
                hits, calls, sensitive_features=groups, kind="sum"
            ),
            "epsilon": classifier.certificate_.epsilon,
        }


def _run(work: _Work, journal: Path, plan: _Plan, callback: Callable[[int], None] | None) -> None:
    study = _study(journal, plan, worker=0)
    if plan.n_jobs == 1:
        _work_on(work, journal, plan, 0, callback)
        return
    del study  # every process opens the file for itself
    Parallel(n_jobs=plan.n_jobs)(
        delayed(_work_on)(work, journal, plan, worker, None) for worker in range(plan.n_jobs)
    )


def _work_on(
    work: _Work,
    journal: Path,
    plan: _Plan,
    worker: int,
    callback: Callable[[int], None] | None,
) -> None:
    if plan.n_jobs > 1:
        torch.set_num_threads(1)  # in a process of our own: one core each
    study = _study(journal, plan, worker=worker)
    while (finished := len(_finished(study))) < plan.n_trials:
        study.optimize(lambda trial: _objective(trial, study, work, plan), n_trials=1)
        if callback is not None:
            callback(finished + 1)


def _objective(trial: Any, study: Any, work: _Work, plan: _Plan) -> tuple[float, ...]:
    import optuna

    parameters = plan.space.suggest(trial, plan.limits)
    seed = seed_from(plan.seed, "trial") % 2**31
    first = work.measure(parameters, work.first_rung, seed)
    if _hopeless(first, study):
        raise optuna.TrialPruned
    measured = work.measure(parameters, work.train, seed)
    for name, excess in plan.limits.violations(measured).items():
        trial.set_constraint(name, excess)
    return tuple(measured[name] for name in OBJECTIVES)


def _hopeless(first: dict[str, float], study: Any) -> bool:
    """Whether a finished trial is better by a margin that more rows would not make up."""
    for trial in _finished(study):
        if trial.values is None:
            continue
        best_accuracy, *others = trial.values
        gaps_no_worse = all(
            mine >= other for mine, other in zip(list(first.values())[1:], others, strict=True)
        )
        if gaps_no_worse and best_accuracy >= first["accuracy"] + _PRUNING_MARGIN:
            return True
    return False


def _study(journal: Path, plan: _Plan, *, worker: int) -> Any:
    optuna = _optuna()
    backend = optuna.storages.journal.JournalFileBackend(str(journal))
    sampler = optuna.samplers.TPESampler(
        seed=seed_from(plan.seed, "sampler", worker) % 2**32,
        n_startup_trials=max(10, plan.n_trials // 4),
    )
    return optuna.create_study(
        storage=optuna.storages.JournalStorage(backend),
        study_name="fairsmooth",
        sampler=sampler,
        directions=["maximize" if more else "minimize" for more in OBJECTIVES.values()],
        load_if_exists=True,
    )


def _finished(study: Any) -> list[Any]:
    from optuna.trial import TrialState

    return list(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED)))


def _table(journal: Path, space: SearchSpace, limits: Limits) -> pd.DataFrame:
    optuna = _optuna()
    backend = optuna.storages.journal.JournalFileBackend(str(journal))
    study = optuna.load_study(
        study_name="fairsmooth", storage=optuna.storages.JournalStorage(backend)
    )
    rows = []
    for trial in _finished(study):
        if trial.values is None:
            continue
        parameters = space.suggest(optuna.trial.FixedTrial(trial.params), limits)
        rows.append(
            {
                "trial": trial.number,
                "parameters": parameters,
                **dict(zip(OBJECTIVES, trial.values, strict=True)),
                "seconds": trial.duration.total_seconds() if trial.duration else np.nan,
            }
        )
    if not rows:
        raise InputError("Expected at least one finished trial, got none. Allow more trials.")
    return pd.DataFrame(rows)


def _optuna() -> Any:
    try:
        import optuna
        import optuna.storages.journal
    except ImportError as error:
        raise InputError(
            "Expected Optuna to be installed for tuning, found none. "
            "Install it with: pip install 'fairsmooth[tune]'."
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
