"""Which candidate a method is given, from what all of them did on held-out training rows."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.store import JobRecord, Store
from fairsmooth.experiments.run.work import FAILED

# How much held-out accuracy a candidate may give up for smaller gaps, for every method alike.
ACCURACY_SLACK = 0.02


def resolved(job: Job, candidates: Sequence[Job], store: Store) -> Job | str | None:
    """Return a fit with its parameters; why there are none; or None while candidates are open.

    Parameters
    ----------
    job : Job
        The fit.
    candidates : sequence of Job
        What it is chosen among; without any it has its parameters already.
    store : Store
        Where the candidates' records are.
    """
    if not candidates:
        return job
    records = [store.get(candidate.key) for candidate in candidates]
    known = [record for record in records if record is not None]
    if len(known) < len(records):
        return None
    place = fairest_accurate(known)
    if place is None:
        return f"every candidate failed: {known[0]['reason']}"
    return replace(job, parameters=candidates[place].parameters)


def fairest_accurate(records: Sequence[JobRecord]) -> int | None:
    """Return the place of the least sum of gaps among candidates of nearly the best accuracy.

    Examples
    --------
    >>> names = ("accuracy", "demographic_parity", "equalized_odds_sum")
    >>> measured = [(0.85, 0.2, 0.2), (0.84, 0.1, 0.1), (0.7, 0, 0)]
    >>> fairest_accurate(
    ...     [{"status": "done", "measured": dict(zip(names, each))} for each in measured]
    ... )
    1
    """
    known = {
        place: record["measured"]
        for place, record in enumerate(records)
        if record["status"] != FAILED
    }
    if not known:
        return None
    floor = max(measured["accuracy"] for measured in known.values()) - ACCURACY_SLACK
    eligible = [place for place, measured in known.items() if measured["accuracy"] >= floor]
    return min(eligible, key=lambda place: _sum_of_gaps(known[place]))


def _sum_of_gaps(measured: dict[str, Any]) -> float:
    gaps = (measured["demographic_parity"], measured["equalized_odds_sum"])
    # A gap that the held-out rows cannot show recommends nothing.
    if any(gap is None or math.isnan(gap) for gap in gaps):
        return math.inf
    return float(sum(gaps))
