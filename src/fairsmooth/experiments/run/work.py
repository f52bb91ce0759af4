"""Do one job and turn whatever happens into a record."""

import math
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import sklearn
import torch
from threadpoolctl import threadpool_limits

import fairsmooth
from fairsmooth.baselines import Method
from fairsmooth.experiments.run.ceiling import ceilings
from fairsmooth.experiments.run.code_digest import code_digest
from fairsmooth.experiments.run.draws import time_draws
from fairsmooth.experiments.run.fit import fit, judge, reason_of
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.readings import readings
from fairsmooth.experiments.run.store import JobRecord
from fairsmooth.experiments.run.tradeoff import trade_off

DONE, FAILED = "done", "failed"
# Six digits tell apart what can be told apart, and keep the files small. Means of the trade-off
# are rounded once more where they are shown, and a second rounding must not move them.
_DIGITS, _DIGITS_OF, _EXACT = 6, {"tradeoff": 12}, 17

_WORK: dict[str, Callable[[Job, Mapping[str, Any], Any], dict[str, Any]]] = {
    "candidate": judge,
    "fit": fit,
    "draws": time_draws,
    "ceiling": ceilings,
    "tradeoff": trade_off,
    "readings": readings,
}


def work(job: Job, method: Method | None = None) -> JobRecord:
    """Run a job with one thread; a failure is a record with its reason, not an exception."""
    began, used = time.perf_counter(), time.process_time()
    outcome: JobRecord
    with one_thread(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = _WORK[job.kind](job, dict(job.parameters), method)
            outcome = {"status": DONE, **found}
        except Exception as error:
            outcome = {"status": FAILED, "reason": reason_of(error)}
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - used
    return {
        "key": job.key,
        "job": _plain(job.told, _EXACT),
        "seed": job.seed,
        "code": code_digest(job, method),
        **_plain(outcome, _DIGITS_OF.get(job.kind, _DIGITS)),
        "warnings": sorted({warning.category.__name__ for warning in caught}),
        "seconds": round(seconds, 3),
        "cpu_seconds": round(cpu_seconds, 3),
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


def _plain(value: Any, digits: int) -> Any:
    """Return what JSON can hold: no arrays, and None for what is not a number."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each, digits) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, digits) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return round(value, digits) if math.isfinite(value) else None
    return value
