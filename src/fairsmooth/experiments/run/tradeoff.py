"""One split of the trade-off: everybody on the same columns, chosen by the same rule.

Forecasts are learned from the training part, out-of-fold on its own rows, and shared by all
methods and candidates. A method that is told the group may choose among the group-blind candidates
too: nothing obliges it to use what it is told. ΔEO is the sum |ΔTPR| + |ΔFPR|.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from fairsmooth.datasets import FairDataset
from fairsmooth.experiments.beyond.tradeoff import CEILING, sighted
from fairsmooth.experiments.run.ceiling import count_cells, fair_ceiling
from fairsmooth.experiments.run.columns import COLUMNS, with_group
from fairsmooth.experiments.run.data import whole
from fairsmooth.experiments.run.fit import reason_of
from fairsmooth.experiments.run.job import Job
from fairsmooth.experiments.run.tradeoff_candidates import Candidate, Entrant, entrants
from fairsmooth.experiments.run.tradeoff_choice import FEW_ROWS, choose, judged, pooled
from fairsmooth.metrics.rates import measure
from fairsmooth.training.decisions.subspace import coarse_cells
from fairsmooth.tuning import SearchLimits

# What a job is about: a split, or the ceiling of all rows.
SPLIT, ALL_ROWS = "split", "all rows"
# Cells of the forecasts with nearly as many rows each, from which the ceiling is computed.
CEILING_CELLS = 512

Figures = dict[str, Any]
Place = tuple[str, str, float | None]


def entries(dataset: str, limits: SearchLimits, *, quick: bool) -> Iterator[Place]:
    """Yield method, axis and value of all that a split is to show: the chosen one first."""
    for told in (False, True):
        for entrant in entrants(told=told):
            name = sighted(entrant.name, told=told)
            yield name, "", None
            candidates = _few(entrant.candidates(dataset, limits, told), quick=quick)
            if len(candidates) > 1:
                yield from ((name, each.axis, each.value) for each in candidates)


def trade_off(job: Job, _: Mapping[str, Any], method: None = None) -> Figures:
    """Return every method's chosen candidate, then all candidates, measured on the test part."""
    if job.contender == ALL_ROWS:
        return {"points": list(_ceilings(job))}
    parts = Parts(*whole(job.case, "raw", job.max_rows).split(random_state=job.trial), job.trial)
    points: list[Figures] = []
    for told in (False, True):
        for entrant in entrants(told=told):
            try:
                found = _measured(entrant, parts, job, told=told)
            except Exception as error:  # one that fails leaves the others their rows
                found = [{"axis": "", "value": None, "failed": reason_of(error)}]
            points += [{"method": sighted(entrant.name, told=told), **each} for each in found]
    return {"points": points}


def limits_of(extra: tuple[tuple[str, Any], ...]) -> SearchLimits:
    """Return what the gaps may be."""
    allowed = dict(extra)
    return SearchLimits(allowed["demographic_parity"], allowed["equalized_odds_sum"])


class Parts:
    """Rows to fit on and rows to judge on, encoded once for all methods."""

    def __init__(self, train: FairDataset, test: FairDataset, seed: int) -> None:
        self.raw, self.seed = (train, test), seed
        self.known: dict[tuple[str, bool], tuple[FairDataset, FairDataset]] = {}
        # Candidates with more than one to choose from, by method: entries and inner figures.
        self.tried: dict[str, list[tuple[Figures, Figures]]] = {}

    def encoded(self, columns: str, *, told: bool) -> tuple[FairDataset, FairDataset]:
        """Return both parts in these columns, with what the group adds if it is told."""
        if (columns, told) not in self.known:
            train, test = (with_group(part) if told else part for part in self.raw)
            own, encode = COLUMNS[columns](train, self.seed)
            fitted, judged_on = replace(train, X=own), replace(test, X=encode(test.X))
            if told and columns == "forecasts" and len(train) >= FEW_ROWS:
                blind = self.encoded(columns, told=False)
                fitted, judged_on = (
                    replace(part, X=beside(part.X, other.X))
                    for part, other in zip((fitted, judged_on), blind, strict=True)
                )
            self.known[columns, told] = fitted, judged_on
        return self.known[columns, told]


def beside(told: pd.DataFrame, blind: pd.DataFrame) -> pd.DataFrame:
    """Join forecasts that know the group with those of the group from the other columns.

    Told the group, the best rule is one threshold per group, up to ties: limits on several rates
    at once are met by treating rows of equal forecasts differently. What the other columns say
    of the group breaks those ties. The label's forecast is there already. Few rows do not bear
    the further weights: there the gaps on new rows grew by more than the ties were worth.
    """
    return told.join(blind.iloc[:, 1:].add_prefix("blind "))


def _measured(entrant: Entrant, parts: Parts, job: Job, *, told: bool) -> list[Figures]:
    limits = limits_of(job.extra)
    train, test = parts.encoded(entrant.columns, told=told)
    candidates = _few(entrant.candidates(job.dataset, limits, told), quick=job.quick)
    entries = [_entry(candidate, train, test, parts.seed) for candidate in candidates]
    if len(candidates) == 1:
        return entries
    inner = [judged(pooled(each, train, parts.seed), train) for each in candidates]
    for entry, row in zip(entries, inner, strict=True):
        entry |= {f"inner_{name}": value for name, value in row.items()}
    tried = [*zip(entries, inner, strict=True), *parts.tried.get(entrant.name, [])]
    parts.tried[entrant.name] = tried
    chosen, row = tried[choose([row for _, row in tried], limits)]
    picked = {**chosen, "axis": "", "value": None}
    picked["within"] = float(limits.excess(row) == 0.0)
    picked["chosen"] = f"{chosen['axis']}, {chosen['value']:g}"
    return [picked, *entries]


def _few(candidates: list[Candidate], *, quick: bool) -> list[Candidate]:
    return [candidates[0], candidates[-1]] if quick and len(candidates) > 2 else candidates


def _entry(candidate: Candidate, train: FairDataset, test: FairDataset, seed: int) -> Figures:
    decide, figures = candidate.fit(train, seed)
    found = measure(decide(test), test.y, test.groups)
    return {"axis": candidate.axis, "value": candidate.value, **found, **figures}


def _ceilings(job: Job) -> Iterator[Figures]:
    """Yield the best accuracy within the limits of any rule of the forecasts, in-sample."""
    limits = limits_of(job.extra)
    data = whole(job.case, "raw", job.max_rows)
    own, _ = COLUMNS["forecasts"](data, job.trial)
    cells = coarse_cells(own.to_numpy(), most=CEILING_CELLS)
    counts = count_cells(replace(data, X=pd.DataFrame({"cell": cells})))
    for told in (False, True):
        allowed = limits.max_dp or 0.0, limits.max_eo or 0.0
        accuracy = fair_ceiling(counts, *allowed, group_blind=not told)
        name = sighted(CEILING, told=told)
        yield {"method": name, "axis": "", "value": None, "accuracy": accuracy}
