"""Flat rows of an experiment, out of the records of its jobs."""

from typing import Any

import pandas as pd

from fairsmooth.experiments.beyond.readings import PAIRS
from fairsmooth.experiments.declaration import TUNED, Experiment
from fairsmooth.experiments.run.choice import resolved
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.plan import PAIR, PARTITION, Point, points_of
from fairsmooth.experiments.run.profiles import Profile
from fairsmooth.experiments.run.selection import EVERYTHING, Selection
from fairsmooth.experiments.run.store import JobRecord, Store
from fairsmooth.experiments.run.work import DONE, FAILED

COLUMNS = (
    "experiment", "source", "case", "encoding", "track", "trial", "method", "axis", "value",
    "status", "reason", "seed", "seconds",
)  # fmt: skip


def rows_of(
    experiment: Experiment, profile: Profile, store: Store, selection: Selection = EVERYTHING
) -> pd.DataFrame:
    """Return one row per finished point of an experiment; failed ones say why.

    ``source`` is what a claim is asked of: the encoding and, where they are not chosen, whose
    parameters.
    """
    points = points_of(experiment, profile, selection)
    rows = [_row(point, *known) for point in points if (known := _known(point, store)) is not None]
    found = pd.DataFrame(rows)
    return found if len(found) else pd.DataFrame(columns=list(COLUMNS))


def source_of(encoding: str, track: str) -> str:
    """Return what a claim is asked of.

    Examples
    --------
    >>> source_of("binned", "tuned"), source_of("binned", "published")
    ('binned', 'binned, published')
    """
    return encoding if track == TUNED else f"{encoding}, {track}"


def _known(point: Point, store: Store) -> tuple[Job, JobRecord] | None:
    """Return the job of a point with its record, or with why it has none; None if it is open."""
    job = resolved(point.job, point.candidates, store)
    if isinstance(job, str):
        nothing = {"status": FAILED, "reason": job, "seed": point.job.seed, "seconds": 0.0}
        return point.job, nothing
    record = None if job is None else store.get(job.key)
    return None if job is None or record is None else (job, record)


def _row(point: Point, job: Job, record: JobRecord) -> dict[str, Any]:
    figures = _figures(point, record) if record["status"] == DONE else {}
    # One method of a job that many share may fail alone.
    reason = figures.pop("failed", record.get("reason", ""))
    return {
        "experiment": point.experiment,
        "source": source_of(job.encoding, point.track),
        "case": job.case,
        "encoding": job.encoding,
        "track": point.track,
        "trial": job.trial,
        "method": point.method,
        "axis": point.axis,
        "value": point.value,
        "status": FAILED if reason else record["status"],
        "reason": reason,
        "seed": record["seed"],
        "seconds": record["seconds"],
        "parameters": str(dict(job.parameters)),
        **figures,
    }


def _figures(point: Point, record: JobRecord) -> dict[str, Any]:
    if point.axis == PARTITION:
        found = record["partitions"][str(point.value)]
    elif point.job.kind == "tradeoff":
        found = _shown(point, record)
    elif point.job.kind == "readings":
        found = _reading(point, record)
    elif "points" in record:
        (found,) = (each for each in record["points"] if each["n_draws"] == point.value)
        # Seconds of the whole job stand in their own column.
        found = {**found, "draw_seconds": found["seconds"]}
        del found["seconds"]
    else:
        found = record["measured"]
    return {name: float("nan") if value is None else value for name, value in found.items()}


def _reading(point: Point, record: JobRecord) -> dict[str, Any]:
    """Return the figures at one pair of σ and α, or of the control."""
    if point.axis != PAIR or point.value is None:
        return {name: value for name, value in record["control"].items() if name != "method"}
    sigma, alpha = PAIRS[int(point.value)]
    own = (each for each in record["points"] if (each["sigma"], each["alpha"]) == (sigma, alpha))
    return dict(next(own))


def _shown(point: Point, record: JobRecord) -> dict[str, Any]:
    """Return the figures of one method of a split, or why there are none."""
    own = [each for each in record["points"] if each["method"] == point.method]
    place = (point.axis, point.value)
    names = ("method", "axis", "value")
    for each in own:
        if "failed" in each or (each["axis"], each.get("value")) == place:
            return {name: value for name, value in each.items() if name not in names}
    raise KeyError(f"{point.method} at {place}")
