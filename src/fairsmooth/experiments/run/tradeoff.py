"""One split of the trade-off, group-blind or told the group: everybody on the same columns.

Forecasts are learned from the training part, out-of-fold on its own rows, and shared by all
methods and candidates. ΔEO is the sum |ΔTPR| + |ΔFPR|.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from fairsmooth.datasets import FairDataset
from fairsmooth.experiments.beyond.tradeoff import CEILING, sighted
from fairsmooth.experiments.run.ceiling import count_cells, fair_ceiling
from fairsmooth.experiments.run.columns import COLUMNS
from fairsmooth.experiments.run.data import whole
from fairsmooth.experiments.run.fit import reason_of
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.tradeoff_candidates import Candidate, Entrant, entrants
from fairsmooth.experiments.run.tradeoff_choice import choose, judged, pooled
from fairsmooth.metrics.rates import measure
from fairsmooth.training.decisions.subspace import coarse_cells
from fairsmooth.tuning import Limits

# What a job is about: a split, seen with or without the group, or the ceiling of all rows.
BLIND, TOLD = "blind", "told"
CEILING_BLIND, CEILING_TOLD = "ceiling blind", "ceiling told"
# Cells of the forecasts with nearly as many rows each, from which the ceiling is computed.
CEILING_CELLS = 512

Figures = dict[str, Any]


def entries(limits: Limits, *, told: bool, quick: bool) -> Iterator[tuple[str, str, float | None]]:
    """Yield method, axis and value of all that a split is to show: the chosen one first."""
    for entrant in entrants(told=told):
        name = sighted(entrant.name, told=told)
        yield name, "", None
        candidates = _few(entrant.candidates(limits), quick=quick)
        if len(candidates) > 1:
            yield from ((name, each.axis, each.value) for each in candidates)


def trade_off(job: Job, _: Mapping[str, Any], method: None = None) -> Figures:
    """Return every method's chosen candidate, then all candidates, measured on the test part."""
    limits = limits_of(job.extra)
    if job.contender in (CEILING_BLIND, CEILING_TOLD):
        return _ceiling(job, limits)
    told = job.contender == TOLD
    split = whole(job.case, "raw", job.max_rows).split(random_state=job.trial)
    parts = Parts(*(with_group(part) if told else part for part in split), seed=job.trial)
    points: list[Figures] = []
    for entrant in entrants(told=told):
        try:
            found = _measured(entrant, parts, limits, quick=job.quick)
        except Exception as error:  # one that fails leaves the others their rows
            found = [{"axis": "", "failed": reason_of(error)}]
        points += [{"method": sighted(entrant.name, told=told), **each} for each in found]
    return {"points": points}


def limits_of(extra: tuple[tuple[str, Any], ...]) -> Limits:
    """Return what the gaps may be."""
    allowed = dict(extra)
    return Limits(allowed["demographic_parity"], allowed["equalized_odds_sum"])


def with_group(data: FairDataset) -> FairDataset:
    """Return the rows with the sensitive attribute among the features."""
    groups = data.groups
    names = [groups.labels[code] for code in groups.codes]
    return replace(data, X=data.X.assign(**{"the group": names}))


def _measured(entrant: Entrant, parts: "Parts", limits: Limits, *, quick: bool) -> list[Figures]:
    train, test = parts.encoded(entrant.columns)
    candidates = _few(entrant.candidates(limits), quick=quick)
    entries = [_entry(candidate, train, test, parts.seed) for candidate in candidates]
    if len(candidates) == 1:
        return entries
    inner = [judged(pooled(each, train, parts.seed), train) for each in candidates]
    chosen = choose(inner, limits)
    for entry, row in zip(entries, inner, strict=True):
        entry |= {f"inner_{name}": value for name, value in row.items()}
    picked = {**entries[chosen], "axis": "", "value": None}
    picked["within"] = limits.excess(inner[chosen]) == 0.0
    picked["chosen"] = f"{candidates[chosen].axis} {candidates[chosen].value:g}"
    return [picked, *entries]


def _few(candidates: list[Candidate], *, quick: bool) -> list[Candidate]:
    return candidates[:: 5 if quick else 1]


def _entry(candidate: Candidate, train: FairDataset, test: FairDataset, seed: int) -> Figures:
    decide, figures = candidate.fit(train, seed)
    found = measure(decide(test), test.y, test.groups)
    return {"axis": candidate.axis, "value": candidate.value, **found, **figures}


class Parts:
    """Rows to fit on and rows to judge on, encoded once for all methods."""

    def __init__(self, train: FairDataset, test: FairDataset, *, seed: int) -> None:
        self.raw, self.seed = (train, test), seed
        self.known: dict[str, tuple[FairDataset, FairDataset]] = {}

    def encoded(self, columns: str) -> tuple[FairDataset, FairDataset]:
        """Return both parts in these columns."""
        if columns not in self.known:
            train, test = self.raw
            own, encode = COLUMNS[columns](train, self.seed)
            self.known[columns] = replace(train, X=own), replace(test, X=encode(test.X))
        return self.known[columns]


def _ceiling(job: Job, limits: Limits) -> Figures:
    """Return the best accuracy within the limits of any rule of the forecasts, in-sample."""
    told = job.contender == CEILING_TOLD
    data = whole(job.case, "raw", job.max_rows)
    own, _ = COLUMNS["forecasts"](with_group(data) if told else data, job.trial)
    cells = coarse_cells(own.to_numpy(), most=CEILING_CELLS)
    accuracy = fair_ceiling(
        count_cells(replace(data, X=pd.DataFrame({"cell": cells}))),
        limits.max_dp or 0.0,
        limits.max_eo or 0.0,
        group_blind=not told,
    )
    return {"points": [{"method": sighted(CEILING, told=told), "axis": "", "accuracy": accuracy}]}
