"""From declarations to records: every job once, in processes, resumed however it was stopped."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from joblib import Parallel, delayed, parallel_config

from fairsmooth import _validate
from fairsmooth.baselines import Method
from fairsmooth.experiments.declaration import Experiment
from fairsmooth.experiments.run.field import everyone
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.plan import choice_of, points_of
from fairsmooth.experiments.run.profiles import Profile
from fairsmooth.experiments.run.progress import Progress, TimeLeft, describe
from fairsmooth.experiments.run.selection import EVERYTHING, Selection
from fairsmooth.experiments.run.store import JobRecord, Store
from fairsmooth.experiments.run.work import DONE, FAILED, not_run, work

Report = Callable[[Progress], None]
Parameters = Mapping[str, Any]
Task = tuple[Job, Parameters, Method | None]


def run_experiments(
    experiments: Sequence[Experiment],
    profile: Profile,
    store: Store,
    *,
    selection: Selection = EVERYTHING,
    n_jobs: int = 1,
    on_cluster: bool = False,
    report: Report | None = None,
) -> None:
    """Run what the experiments need and the store does not hold yet.

    Fits that several experiments share run once. Each record is on disk before
    the next is waited for, so a killed run goes on where it was and ends with
    the same records as one that was left alone. A job that fails is recorded with
    its reason, and counts as finished.

    Parameters
    ----------
    experiments : sequence of Experiment
        What to run.
    profile : Profile
        The budget.
    store : Store
        Where records are kept.
    selection : Selection
        Which methods and cases; everything by default.
    n_jobs : int
        Processes, each with one numerical thread. 1 stays in this process.
    on_cluster : bool
        Whether jobs go to the backend that joblib has at the moment, such as that of
        :func:`fairsmooth.distributed.cluster.on_cluster`, instead of processes of this machine.
    report : callable, optional
        Called with a :class:`Progress` at the start and after every job.
    """
    _validate.positive(n_jobs=n_jobs)
    selection.check()
    jobs = jobs_of(experiments, profile, selection)
    left = TimeLeft(n_jobs)
    for job in jobs:
        if job.key in store:
            left.learn(job, store[job.key]["seconds"])
    tell = _reporter(jobs, store, left, report)
    tell("")
    # Choices first: the fits that follow need what was chosen.
    for choosing in (True, False):
        stage = [job for job in jobs if (job.kind == "choice") == choosing and job.key not in store]
        for job, record in _finished(stage, store, selection.outside, n_jobs, on_cluster):
            store.append(record)
            left.learn(job, record["seconds"])
            tell(describe(job))


def jobs_of(
    experiments: Iterable[Experiment], profile: Profile, selection: Selection = EVERYTHING
) -> list[Job]:
    """Return every job of some experiments once, choices before the fits that use them."""
    fits = [point.job for each in experiments for point in points_of(each, profile, selection)]
    choices = [choice_of(job) for job in fits if job.chosen]
    return list(dict.fromkeys([*choices, *fits]))


def parameters_of(job: Job, store: Store, method: Method | None) -> Parameters | str:
    """Return the parameters of a job, or the reason why it cannot run."""
    if job.chosen:
        choice = store[choice_of(job).key]
        if choice["status"] == FAILED:
            return str(choice["reason"])
        return dict(choice["chosen"])
    if method is not None and not job.parameters:
        return method.grid[0]
    return dict(job.parameters)


def _finished(
    jobs: Sequence[Job],
    store: Store,
    outside: Sequence[Method],
    n_jobs: int,
    on_cluster: bool,
) -> Iterator[tuple[Job, JobRecord]]:
    known = {method.name: method for method in (*everyone(), *outside)}
    able: list[Task] = []
    for job in jobs:
        method = known.get(job.contender)
        parameters = parameters_of(job, store, method)
        if isinstance(parameters, str):
            yield job, not_run(job, parameters)
        else:
            able.append((job, parameters, method))
    by_key = {job.key: job for job, *_ in able}
    for record in _worked(able, n_jobs, on_cluster):
        yield by_key[record["key"]], record


def _worked(tasks: Sequence[Task], n_jobs: int, on_cluster: bool) -> Iterator[JobRecord]:
    if on_cluster:
        yield from _parallel(tasks, n_jobs)
        return
    if n_jobs == 1 or len(tasks) < 2:
        yield from (work(*task) for task in tasks)
        return
    # If this process is killed its workers are left without work, and soon end themselves.
    with parallel_config(backend="loky", inner_max_num_threads=1, idle_worker_timeout=20):
        yield from _parallel(tasks, n_jobs)


def _parallel(tasks: Sequence[Task], n_jobs: int) -> Iterator[JobRecord]:
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    yield from pool(delayed(work)(*task) for task in tasks)


def _reporter(
    jobs: Sequence[Job], store: Store, left: TimeLeft, report: Report | None
) -> Callable[[str], None]:
    waiting = {job.key: job for job in jobs if job.key not in store}
    failed = {job.key for job in jobs if job.key in store and store[job.key]["status"] != DONE}

    def tell(label: str) -> None:
        for key in [key for key in waiting if key in store]:
            del waiting[key]
            if store[key]["status"] != DONE:
                failed.add(key)
        if report is not None:
            remaining = left.estimate(list(waiting.values()))
            report(Progress(len(jobs) - len(waiting), len(jobs), len(failed), remaining, label))

    return tell
