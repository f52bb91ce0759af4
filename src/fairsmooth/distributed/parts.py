"""The same work on every part of a table: processes here, or a Dask cluster."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from joblib import Parallel, delayed

from fairsmooth.distributed.cluster import on_cluster
from fairsmooth.exceptions import FairSmoothError

Job = TypeVar("Job")


def work_on_parts(
    work: Callable[[Job], Any],
    jobs: Sequence[Job],
    *,
    n_jobs: int = 1,
    scheduler: str | None = None,
) -> Iterator[Any]:
    """Yield what ``work`` returns for every job, in the order in which they end.

    A worker that dies is replaced by another, by the scheduler's doing; a job that is refused
    ends all, and what was finished stays.
    """
    with on_cluster(scheduler) as workers:
        if workers is None and n_jobs == 1:
            yield from (work(job) for job in jobs)
            return
        pool = Parallel(n_jobs=workers or n_jobs, return_as="generator_unordered", batch_size=1)
        for result in pool(delayed(_told)(work, job) for job in jobs):
            if isinstance(result, FairSmoothError):
                raise result
            yield result


def _told(work: Callable[[Job], Any], job: Job) -> Any:
    """Bring a refusal home as a value, with its own message."""
    try:
        return work(job)
    except FairSmoothError as error:
        return error
