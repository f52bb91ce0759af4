"""The search itself: trials in rounds, resumable, in parallel processes."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from fairsmooth.exceptions import InputError
from fairsmooth.tuning.folds import Folds
from fairsmooth.tuning.race import reason_to_stop
from fairsmooth.tuning.records import RecordsFile, TrialRecord, search_digest
from fairsmooth.tuning.sampling import ROUND, Plan
from fairsmooth.tuning.work import run_alone, run_trial

# The baseline that everything is compared with sees all folds, whatever it looks like.
BASELINE = 0

Progress = Callable[[int], None]


def run_search(
    folds: Folds,
    plan: Plan,
    *,
    n_trials: int,
    n_jobs: int,
    storage: Path | None,
    callback: Progress | None,
) -> list[TrialRecord]:
    """Return the trials, those of an earlier, interrupted search included."""
    digest = search_digest({}, {"rows": folds.rows.digest, "plan": plan.to_dict()})
    with _file(storage, digest) as file, _workers(n_jobs) as parallel:
        for start in range(0, n_trials, ROUND):
            _run_round(folds, plan, file, range(start, min(start + ROUND, n_trials)),
                       parallel=parallel, callback=callback)  # fmt: skip
        records = [record for record in file.records if record.number < n_trials]
    if not any(record.finished for record in records):
        raise InputError(
            "Expected at least one trial that can be trained, got none: "
            f"{records[0].stopped or 'no trial ended'}."
        )
    return records


def _run_round(
    folds: Folds,
    plan: Plan,
    file: RecordsFile,
    numbers: range,
    *,
    parallel: Parallel | None,
    callback: Progress | None,
) -> None:
    done = {record.number for record in file.records}
    pending = [number for number in numbers if number not in done]
    if not pending:
        return
    known = [record for record in file.records if record.number < numbers.start]
    points = dict(zip(pending, plan.choose(pending, known), strict=True))
    for record in _run_all(folds, plan, points, known, parallel):
        file.append(record)
        if callback is not None:
            callback(len(file.records))
    file.records.sort(key=lambda record: record.number)


def _run_all(
    folds: Folds,
    plan: Plan,
    points: Mapping[int, dict[str, Any]],
    known: Sequence[TrialRecord],
    parallel: Parallel | None,
) -> Iterator[TrialRecord]:
    tasks = [_task(folds, plan, number, point, known) for number, point in points.items()]
    if parallel is None or len(tasks) == 1:
        yield from (run_trial(*arguments, **options) for arguments, options in tasks)
        return
    yield from parallel(delayed(run_alone)(*arguments, **options) for arguments, options in tasks)


def _task(
    folds: Folds,
    plan: Plan,
    number: int,
    point: Mapping[str, Any],
    known: Sequence[TrialRecord],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    columns, parameters = plan.parameters(point)
    options: dict[str, Any] = {"number": number, "point": point, "seed": plan.trial_seed}
    if number != BASELINE:
        rivals = {record.number: record.judged for record in known if record.finished}
        options["stop"] = partial(reason_to_stop, rivals=rivals, limits=plan.limits, aim=plan.aim)
    return (folds.encoded(columns), parameters), options


@contextmanager
def _workers(n_jobs: int) -> Iterator[Parallel | None]:
    """Keep processes for the whole search: they are given every fold's arrays once."""
    if n_jobs == 1:
        yield None
        return
    with Parallel(n_jobs=n_jobs, return_as="generator_unordered") as parallel:
        yield parallel


@contextmanager
def _file(storage: Path | None, digest: str) -> Iterator[RecordsFile]:
    with tempfile.TemporaryDirectory() as folder:
        path = storage if storage is not None else Path(folder) / "trials.jsonl"
        with RecordsFile.of_search(path, digest) as file:
            yield file
