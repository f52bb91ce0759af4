"""Time of the profiles of ``fairsmooth reproduce`` and the slowest five fits.

The smoke profile runs twice (once with ``--quick``), which must give the same numbers. The time of
the others is predicted: from the records of a finished or begun run (``--results``, by
default the committed one), and, unless ``--quick``, from one job of every kind, method, dataset
and encoding that those records lack. Predictions are for two processes and from processor time, so
that what else the machine does is not counted.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from _report import Goal, Row, arguments, at_most, report

from fairsmooth.baselines import method
from fairsmooth.experiments import (
    Profile,
    Store,
    experiments,
    jobs_of,
    profile,
    rows_of,
    run_experiments,
)
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.progress import TimeLeft, class_of
from fairsmooth.experiments.run.work import work

PROCESSES = 2
MOST = {"smoke": 60.0, "laptop": 25.0 * 60, "paper": 2.0 * 3600}
# What the paper has; the trade-off has a benchmark of its own.
EXPERIMENTS = [each for each in experiments() if each.paper]
RESULTS = Path(__file__).parents[1] / "results" / "reproduce"
# Of these columns a second run may change the values.
TIMES = {"seconds", "draw_seconds", "slowdown"}


def smoke(times: int) -> tuple[list[float], int, Store]:
    """Run the smoke profile afresh several times; return seconds, differing rows, last store."""
    seconds, tables = [], []
    for _ in range(times):
        store = Store(tempfile.mkdtemp())
        began = time.perf_counter()
        run_experiments(EXPERIMENTS, profile("smoke"), store, n_jobs=PROCESSES)
        seconds.append(time.perf_counter() - began)
        tables.append([_rows(each, store) for each in EXPERIMENTS])
    different = sum(
        int((first != second).any(axis=1).sum())
        for one, other in pairwise(tables)
        for first, second in zip(one, other, strict=True)
    )
    return seconds, different, store


def _rows(experiment: Any, store: Store) -> Any:
    table = rows_of(experiment, profile("smoke"), store).fillna(-1)
    return table.drop(columns=TIMES & set(table.columns))


def known_times(budget: Profile, store: Store, *, sample: bool) -> dict[Job, float]:
    """Return the seconds of the jobs of a profile that records, or a sample, tell."""
    jobs = jobs_of(EXPERIMENTS, budget, store=store)
    known = {job: store[job.key]["cpu_seconds"] for job in jobs if job.key in store}
    return known | dict(_sampled(jobs, known)) if sample else known


def predicted(budget: Profile, known: dict[Job, float], store: Store) -> float | None:
    """Return the seconds that a profile takes, from those of jobs of the same class."""
    left = TimeLeft(PROCESSES)
    for job, seconds in known.items():
        left.learn(job, seconds)
    jobs = jobs_of(EXPERIMENTS, budget, store=store)
    return left.estimate(Counter(map(class_of, jobs)))


def _sampled(jobs: list[Job], known: dict[Job, float]) -> Iterator[tuple[Job, float]]:
    """Run one job of every class that no record tells about."""
    classes = {class_of(job) for job in known}
    for job in jobs:
        if class_of(job) in classes:
            continue
        classes.add(class_of(job))
        print(f"timing {' '.join(map(str, class_of(job)))}", file=sys.stderr)
        entrant = method(job.contender) if job.contender else None
        if entrant is not None and not job.parameters:
            job = replace(job, parameters=tuple(sorted(entrant.grid[0].items())))
        yield job, work(job, entrant)["cpu_seconds"]


def _slow(job: Job, seconds: float) -> Row:
    return {
        "slowest": job.kind,
        "case": job.case,
        "encoding": job.encoding,
        "method": job.contender,
        "seconds": seconds,
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of a run")
    options = parser.parse_args()
    seconds, different, store = smoke(1 if options.quick else 2)
    goals: list[Goal] = [at_most("smoke: seconds", min(seconds), MOST["smoke"])]
    if not options.quick:
        goals.append(at_most("smoke: rows that differ between two runs", different, 0))
    rows: list[Row] = [{"profile": "smoke", "jobs": len(store), "measured_seconds": min(seconds)}]
    past = Store(options.results) if options.results.exists() else Store(tempfile.mkdtemp())
    known: dict[Job, float] = {}
    for name in ("laptop", "paper"):
        # What the smaller profile has taught helps with the larger one.
        known |= known_times(profile(name), past, sample=not options.quick and not known)
        total = predicted(profile(name), known, past)
        n_jobs = len(jobs_of(EXPERIMENTS, profile(name), store=past))
        rows.append({"profile": name, "jobs": n_jobs, "predicted_seconds": total})
        if total is not None:
            goals.append(at_most(f"{name}: predicted seconds", total, MOST[name]))
    slowest = sorted(known.items(), key=lambda pair: -pair[1])[:5]
    rows += [_slow(job, seconds) for job, seconds in slowest]
    report(goals, rows, as_json=options.json)


if __name__ == "__main__":
    main()
