"""From declarations to records: every job once, in processes, resumed however it was stopped."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from joblib import Parallel, delayed, parallel_config

from fairsmooth import _validate
from fairsmooth.baselines import Method
from fairsmooth.experiments.declaration import Experiment
from fairsmooth.experiments.run.choice import resolved
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.plan import Point, points_of
from fairsmooth.experiments.run.profiles import Profile
from fairsmooth.experiments.run.progress import Progress, TimeLeft, class_of, describe
from fairsmooth.experiments.run.selection import EVERYTHING, Selection
from fairsmooth.experiments.run.stale import Methods, is_stale, known_methods
from fairsmooth.experiments.run.store import JobRecord, Store
from fairsmooth.experiments.run.work import DONE, work

Report = Callable[[Progress], None]
Task = tuple[Job, Method | None]


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
    """Run what the experiments need and the store does not hold yet, or holds from other code.

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
    methods = known_methods(selection.outside)
    run = _Run(store, methods, TimeLeft(n_jobs), report)
    # Candidates first: the fits that follow need what was chosen.
    for stage in ("candidate", ""):
        jobs = jobs_of(experiments, profile, selection, store=store)
        run.plan(jobs, first=bool(stage))
        wanted = [job for job in run.waiting.values() if not stage or job.kind == stage]
        tasks = [(job, methods.get(job.contender)) for job in wanted]
        for record in _worked(tasks, n_jobs, on_cluster):
            run.finish(record)


def jobs_of(
    experiments: Iterable[Experiment],
    profile: Profile,
    selection: Selection = EVERYTHING,
    *,
    store: Store | None = None,
) -> list[Job]:
    """Return every job of some experiments once, candidates before the fits that use them.

    Fits have their parameters where the store tells what was chosen. Those for which nothing can
    be chosen are left out.
    """
    points = [point for each in experiments for point in points_of(each, profile, selection)]
    candidates = [candidate for point in points for candidate in point.candidates]
    fits = [point.job if store is None else _planned(point, store) for point in points]
    return list(dict.fromkeys([*candidates, *(job for job in fits if job is not None)]))


def _planned(point: Point, store: Store) -> Job | None:
    found = resolved(point.job, point.candidates, store)
    if isinstance(found, str):
        return None
    return point.job if found is None else found


class _Run:
    """What of a run waits and what is done."""

    def __init__(
        self, store: Store, methods: Methods, left: TimeLeft, report: Report | None
    ) -> None:
        self._store, self._methods, self._left, self._report = store, methods, left, report
        self._total = self._failed = 0
        self._classes: Counter[tuple[str, ...]] = Counter()
        self.waiting: dict[str, Job] = {}

    def plan(self, jobs: Sequence[Job], *, first: bool) -> None:
        """Take note of all jobs; tell so if it is the first time."""
        done = [job for job in jobs if not self._waits(job)]
        finished = {job.key for job in done}
        self.waiting = {job.key: job for job in jobs if job.key not in finished}
        self._classes = Counter(map(class_of, self.waiting.values()))
        self._total = len(jobs)
        self._failed = sum(self._store[key]["status"] != DONE for key in finished)
        if first:
            for job in done:
                self._left.learn(job, self._store[job.key]["seconds"])
            self._tell("")

    def finish(self, record: JobRecord) -> None:
        """Keep a record, and tell how far the run is."""
        job = self.waiting.pop(record["key"])
        self._store.append(record)
        self._left.learn(job, record["seconds"])
        self._classes[class_of(job)] -= 1
        self._failed += record["status"] != DONE
        self._tell(describe(job))

    def _waits(self, job: Job) -> bool:
        return job.key not in self._store or is_stale(job, self._store, self._methods)

    def _tell(self, label: str) -> None:
        if self._report is not None:
            done = self._total - len(self.waiting)
            remaining = self._left.estimate(self._classes)
            self._report(Progress(done, self._total, self._failed, remaining, label))


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
