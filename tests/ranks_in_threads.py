"""Ranks as threads of one process: what several processes do, without starting any."""

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from fairsmooth.core.ranks import Ranks
from fairsmooth.training.solvers import LinearSolver

# Up to Python 3.11 a cached property computes under one lock for all objects, which threads
# that wait for each other inside it never leave. Processes do not share it.
vars(LinearSolver)["curvature"].lock = contextlib.nullcontext()


class ThreadRanks(Ranks):
    def __init__(self, rank: int, size: int, barrier: threading.Barrier, slots: list[Any]) -> None:
        self.rank, self.size, self._barrier, self._slots = rank, size, barrier, slots

    def _all(self, value: Any) -> list[Any]:
        self._slots[self.rank] = value
        self._barrier.wait(60)
        found = list(self._slots)
        self._barrier.wait(60)
        return found

    def sum(self, values):
        return np.sum(self._all(np.array(values, dtype=np.float64)), axis=0)

    def exchange(self, contents):
        return self._all(contents)

    def to_first(self, contents):
        found = self._all(contents)
        return found if self.rank == 0 else []


def run_ranks(size: int, work: Callable[[Ranks], Any]) -> list[Any]:
    """Call ``work`` once per rank, each in a thread; return what all of them returned."""
    barrier, slots = threading.Barrier(size), [None] * size

    def one(rank: int) -> Any:
        try:
            return work(ThreadRanks(rank, size, barrier, slots))
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        jobs = [pool.submit(one, rank) for rank in range(size)]
        errors = [job.exception() for job in jobs]
    real = [e for e in errors if e is not None and not isinstance(e, threading.BrokenBarrierError)]
    if real:
        raise real[0]
    return [job.result() for job in jobs]
