"""How far a run is, and how long it will take."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from fairsmooth.experiments.run.job import Job


@dataclass(frozen=True)
class Progress:
    """State of a run after a job.

    Attributes
    ----------
    done, total, failed : int
        Jobs; those found finished in the folder count as done.
    seconds_left : float or None
        Estimate; None until a first job has finished.
    label : str
        What was finished last.
    """

    done: int
    total: int
    failed: int
    seconds_left: float | None
    label: str


class TimeLeft:
    """Predicts the time of jobs from that of finished ones of the same kind, method and dataset."""

    def __init__(self, n_jobs: int) -> None:
        self._n_jobs = n_jobs
        self._seconds: dict[tuple[str, ...], list[float]] = defaultdict(list)

    def learn(self, job: Job, seconds: float) -> None:
        """Take note of how long a job took."""
        self._seconds[class_of(job)].append(seconds)

    def estimate(self, waiting: Mapping[tuple[str, ...], int]) -> float | None:
        """Return the seconds that the waiting jobs, counted by class, will take together."""
        known = {name: sum(times) / len(times) for name, times in self._seconds.items()}
        if not known:
            return None
        typical = sum(known.values()) / len(known)
        total = sum(known.get(name, typical) * count for name, count in waiting.items())
        return total / self._n_jobs


def describe(job: Job) -> str:
    """Name a job in a few words."""
    words = [job.kind, job.case, job.encoding, job.contender, f"trial {job.trial}"]
    return " ".join(word for word in words if word)


def class_of(job: Job) -> tuple[str, ...]:
    """Return what jobs that take about as long have in common."""
    return (job.kind, job.contender, job.dataset, job.encoding)
