"""Records that other code made: kept and shown, and run again when somebody runs."""

from collections.abc import Iterable, Mapping, Sequence

from fairsmooth.baselines import Method
from fairsmooth.experiments.run.code_digest import code_digest
from fairsmooth.experiments.run.field import everyone
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.store import Store

Methods = Mapping[str, Method]


def known_methods(outside: Sequence[Method] = ()) -> Methods:
    """Return every method by name."""
    return {method.name: method for method in (*everyone(), *outside)}


def is_stale(job: Job, store: Store, methods: Methods) -> bool:
    """Tell whether a job's record was made by other code."""
    record = store.get(job.key)
    if record is None:
        return False
    return bool(record.get("code") != code_digest(job, methods.get(job.contender)))


def stale_jobs(jobs: Iterable[Job], store: Store, outside: Sequence[Method] = ()) -> list[Job]:
    """Return the jobs whose records are stale."""
    methods = known_methods(outside)
    return [job for job in jobs if is_stale(job, store, methods)]
