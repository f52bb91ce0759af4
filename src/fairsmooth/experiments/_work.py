"""Do one job and turn whatever happens into a record."""

import math
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np
import sklearn
import torch
from threadpoolctl import threadpool_limits

import fairsmooth
from fairsmooth.experiments._ceiling_job import ceilings
from fairsmooth.experiments._draws_job import time_draws
from fairsmooth.experiments._fit_job import choose, fit
from fairsmooth.experiments._job import Job
from fairsmooth.experiments._store import Record

DONE, FAILED = "done", "failed"
# Six digits tell apart what can be told apart, and keep the files small.
_DIGITS = 6

_WORK: dict[str, Callable[[Job, Mapping[str, Any]], dict[str, Any]]] = {
    "choice": choose,
    "fit": fit,
    "draws": time_draws,
    "ceiling": ceilings,
}


def work(job: Job, parameters: Mapping[str, Any]) -> Record:
    """Run a job with one thread; a failure is a record with its reason, not an exception."""
    began, used = time.perf_counter(), time.process_time()
    outcome: Record
    with one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = {"status": DONE, **_WORK[job.kind](job, parameters)}
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
            outcome = {"status": FAILED, "reason": reason, "parameters": dict(parameters)}
    return {
        "key": job.key,
        "job": asdict(job),
        "seed": job.seed,
        **_plain(outcome),
        "warnings": sorted({warning.category.__name__ for warning in caught}),
        "seconds": round(time.perf_counter() - began, 3),
        "cpu_seconds": round(time.process_time() - used, 3),
        "versions": versions(),
    }


def not_run(job: Job, reason: str) -> Record:
    """Return the record of a job that could not start."""
    return {
        "key": job.key,
        "job": asdict(job),
        "seed": job.seed,
        "status": FAILED,
        "reason": reason,
        "warnings": [],
        "seconds": 0.0,
        "cpu_seconds": 0.0,
        "versions": versions(),
    }


@cache
def versions() -> dict[str, str]:
    """Return the versions that a record depends on."""
    return {
        "fairsmooth": fairsmooth.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__,
        "scikit-learn": sklearn.__version__,
    }


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep numerical libraries to one thread, so that processes do not fight for cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        torch.set_num_threads(before)


def _plain(value: Any) -> Any:
    """Return what JSON can hold: no arrays, and None for what is not a number."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return round(value, _DIGITS) if math.isfinite(value) else None
    return value
