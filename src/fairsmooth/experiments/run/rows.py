"""Flat rows of an experiment, out of the records of its jobs."""

from typing import Any

import pandas as pd

from fairsmooth.experiments.declaration import Experiment
from fairsmooth.experiments.run.plan import PARTITION, Point, points_of
from fairsmooth.experiments.run.profiles import Profile
from fairsmooth.experiments.run.selection import EVERYTHING, Selection
from fairsmooth.experiments.run.store import JobRecord, Store
from fairsmooth.experiments.run.work import DONE

COLUMNS = (
    "experiment", "source", "case", "encoding", "trial", "method", "axis", "value",
    "status", "reason", "seed", "seconds",
)  # fmt: skip


def rows_of(
    experiment: Experiment, profile: Profile, store: Store, selection: Selection = EVERYTHING
) -> pd.DataFrame:
    """Return one row per finished point of an experiment; failed ones say why.

    ``source`` is the encoding: what a claim is asked of.
    """
    points = points_of(experiment, profile, selection)
    rows = [
        _row(point, record) for point in points if (record := store.get(point.job.key)) is not None
    ]
    found = pd.DataFrame(rows)
    return found if len(found) else pd.DataFrame(columns=list(COLUMNS))


def _row(point: Point, record: JobRecord) -> dict[str, Any]:
    job = point.job
    return {
        "experiment": point.experiment,
        "source": job.encoding,
        "case": job.case,
        "encoding": job.encoding,
        "trial": job.trial,
        "method": point.method,
        "axis": point.axis,
        "value": point.value,
        "status": record["status"],
        "reason": record.get("reason", ""),
        "seed": record["seed"],
        "seconds": record["seconds"],
        "parameters": str(record.get("parameters", "")),
        **(_figures(point, record) if record["status"] == DONE else {}),
    }


def _figures(point: Point, record: JobRecord) -> dict[str, Any]:
    if point.axis == PARTITION:
        found = record["partitions"][str(point.value)]
    elif "points" in record:
        (found,) = (each for each in record["points"] if each["n_draws"] == point.value)
        # Seconds of the whole job stand in their own column.
        found = {**found, "draw_seconds": found["seconds"]}
        del found["seconds"]
    else:
        found = record["measured"]
    return {name: float("nan") if value is None else value for name, value in found.items()}
