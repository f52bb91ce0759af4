"""The search itself: trials in rounds, resumable, in parallel processes."""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from joblib import Parallel, delayed

from fairsmooth import _validate
from fairsmooth._random import seed_from
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.tuning.records import RecordsFile, TrialRecord, search_digest
from fairsmooth.tuning.space import SearchSpace
from fairsmooth.tuning.trials import OBJECTIVES, Limits, Tuned, choose, pareto_front
from fairsmooth.tuning.work import Measured, Work

# Trials of a round know the rounds before and nothing of each other, so that neither
# processes nor interruptions change the sequence. Eight keep eight processes busy.
_ROUND = 8
# Drawn at random before the sampler has something to learn from: two rounds.
_STARTUP_TRIALS = 2 * _ROUND


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
    rows that a user keeps for testing never enter. Trial number i depends on the rows,
    the settings, the seed and the trials of earlier rounds, and on nothing else: the
    same seed gives the same trials for any number of jobs, interrupted or not.

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
        File that keeps the trials of one search. If it was interrupted, it goes on from
        there; a file of another search (other rows or settings) is refused.
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
    _require_optuna()
    work = Work.of(X, y, sensitive_features, validation_size, random_state)
    plan = _Plan(limits or Limits(), space or SearchSpace(), random_state)
    digest = plan.digest(work)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(storage) if storage is not None else Path(folder) / "trials.jsonl"
        with RecordsFile.of_search(path, digest) as file:
            _run(work, plan, file, n_trials=n_trials, n_jobs=n_jobs, callback=callback)
            table = plan.table(file.records[:n_trials])
    position, feasible = choose(table[list(OBJECTIVES)], plan.limits)
    table["pareto"] = pareto_front(table)
    table["feasible"] = [plan.limits.excess(row) == 0.0 for _, row in table.iterrows()]
    table["chosen"] = np.arange(len(table)) == position
    parameters = dict(table["parameters"].iloc[position])
    classifier = FairSmoothClassifier(**parameters, random_state=random_state)
    classifier.fit(X, y, sensitive_features=sensitive_features)
    measured = {name: float(table[name].iloc[position]) for name in OBJECTIVES}
    return Tuned(table, parameters, measured, feasible, classifier)


@dataclass(frozen=True)
class _Plan:
    """What decides the sequence of trials, besides the rows."""

    limits: Limits
    space: SearchSpace
    seed: int

    def digest(self, work: Work) -> str:
        settings = {
            "limits": asdict(self.limits),
            "space": asdict(self.space),
            "seed": self.seed,
            "round": _ROUND,
        }
        labels = {"X": work.X, "y": (work.y == work.y.max()), "groups": work.groups}
        return search_digest({**labels, "validation": work.validation}, settings)

    def parameters(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the classifier's parameters at a point of the search."""
        import optuna

        return self.space.suggest(optuna.trial.FixedTrial(dict(params)), self.limits)

    def choose(self, numbers: Iterable[int], known: Sequence[TrialRecord]) -> list[dict[str, Any]]:
        """Return the points of the given trials, which know what earlier rounds found."""
        frozen = [
            self._frozen(record, record.measured) for record in known if record.measured is not None
        ]
        chosen = []
        for number in numbers:
            # A study of its own: the sampler looks at trials that were asked for, too.
            trial = self._study(frozen, number).ask()
            self.space.suggest(trial, self.limits)
            chosen.append(dict(trial.params))
        return chosen

    def table(self, records: Sequence[TrialRecord]) -> pd.DataFrame:
        """Return the trials that were measured, one row each."""
        rows = [
            {
                "trial": record.number,
                "parameters": self.parameters(record.params),
                **record.measured,
                "seconds": record.seconds,
            }
            for record in records
            if record.measured is not None
        ]
        if not rows:
            raise InputError("Expected at least one finished trial, got none. Allow more trials.")
        return pd.DataFrame(rows)

    def _study(self, frozen: Sequence[Any], number: int) -> Any:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(
            directions=["maximize" if more else "minimize" for more in OBJECTIVES.values()],
            sampler=optuna.samplers.TPESampler(
                seed=seed_from(self.seed, "sampler", number) % 2**32,
                n_startup_trials=_STARTUP_TRIALS,
            ),
        )
        study.add_trials(frozen)
        return study

    def _frozen(self, record: TrialRecord, measured: Measured) -> Any:
        import optuna

        fixed = optuna.trial.FixedTrial(dict(record.params))
        self.space.suggest(fixed, self.limits)
        return optuna.trial.create_trial(
            params=dict(record.params),
            distributions=fixed.distributions,
            values=[measured[name] for name in OBJECTIVES],
            constraints=self.limits.violations(measured) or None,
        )


def _run(
    work: Work,
    plan: _Plan,
    file: RecordsFile,
    *,
    n_trials: int,
    n_jobs: int,
    callback: Callable[[int], None] | None,
) -> None:
    for start in range(0, n_trials, _ROUND):
        done = {record.number for record in file.records}
        pending = [n for n in range(start, min(start + _ROUND, n_trials)) if n not in done]
        if not pending:
            continue
        known = [record for record in file.records if record.number < start]
        points = plan.choose(pending, known)
        for record in _measure_all(work, plan, dict(zip(pending, points, strict=True)), known,
                                   n_jobs=n_jobs):  # fmt: skip
            file.append(record)
            if callback is not None:
                callback(len(file.records))
        file.records.sort(key=lambda record: record.number)


def _measure_all(
    work: Work,
    plan: _Plan,
    points: Mapping[int, dict[str, Any]],
    known: Sequence[TrialRecord],
    *,
    n_jobs: int,
) -> Iterator[TrialRecord]:
    others = [record.measured for record in known if record.measured is not None]
    seed = seed_from(plan.seed, "trial") % 2**31
    tasks = [
        (number, point, plan.parameters(point), others, seed) for number, point in points.items()
    ]
    if n_jobs == 1 or len(tasks) == 1:
        yield from (_measure(work, *task) for task in tasks)
        return
    parallel = Parallel(n_jobs=min(n_jobs, len(tasks)), return_as="generator_unordered")
    yield from parallel(delayed(_measure_alone)(work, *task) for task in tasks)


def _measure_alone(work: Work, *task: Any) -> TrialRecord:
    torch.set_num_threads(1)  # in a process of our own: one core each
    return _measure(work, *task)


def _measure(
    work: Work,
    number: int,
    point: Mapping[str, Any],
    parameters: Mapping[str, Any],
    others: Sequence[Measured],
    seed: int,
) -> TrialRecord:
    began = time.perf_counter()
    measured = work.measure(parameters, others, seed=seed)
    return TrialRecord(number, point, measured, time.perf_counter() - began)


def _require_optuna() -> None:
    try:
        import optuna  # noqa: F401
    except ImportError as error:
        raise InputError(
            "Expected Optuna to be installed for tuning, found none. "
            "Install it with: pip install 'fairsmooth[tune]'."
        ) from error
