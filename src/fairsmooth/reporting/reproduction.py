"""The page of a reproduction: an answer in a minute, a picture per table, claims, numbers."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

import fairsmooth
from fairsmooth import _atomic
from fairsmooth.experiments import (
    ENCODINGS,
    OUTCOMES,
    PAPER,
    Experiment,
    Profile,
    Selection,
    Store,
    jobs_of,
    label_of,
    rows_of,
    stale_jobs,
)
from fairsmooth.reporting.claims import ClaimAnswers, answer_claims
from fairsmooth.reporting.compare import comparison_tables
from fairsmooth.reporting.experiment_figures import draw
from fairsmooth.reporting.figures import as_svg
from fairsmooth.reporting.minute import in_a_minute
from fairsmooth.reporting.page import render
from fairsmooth.reporting.readings_table import readings_table
from fairsmooth.reporting.reproduction_words import (
    case_name,
    columns_name,
    in_source_order,
    source_name,
)
from fairsmooth.reporting.sweep_tables import ceiling_table, draws_table, tradeoff_table
from fairsmooth.reporting.table_figures import table_figure
from fairsmooth.reporting.tables import Table
from fairsmooth.reporting.unfinished import unfinished
from fairsmooth.reporting.verdict_groups import grouped, whose_claim


@dataclass(frozen=True)
class Section:
    """One experiment as the page shows it.

    Attributes
    ----------
    experiment : Experiment
    tables : list of Table
    picture : Markup or None
        A table's, of all sources of columns together.
    figures : dict of str to Markup
        By source of columns.
    claims : list of ClaimAnswers
    failures : list of str
    """

    experiment: Experiment
    tables: list[Table]
    picture: Markup | None
    figures: dict[str, Markup]
    claims: list[ClaimAnswers]
    failures: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Where it stands in the paper, and its name where that says more."""
        place = self.experiment.paper or "Beyond the paper"
        return place if self.experiment.kind == "fit" else f"{place}: {self.experiment.name}"


def write_reproduction(
    folder: Path,
    experiments: Sequence[Experiment],
    profile: Profile,
    *,
    store: Store,
    selection: Selection,
    command: str,
) -> dict[str, Any]:
    """Write ``index.html``, ``index.md``, the figures and the flat rows; return a summary.

    Everything comes from the records of the store; nothing is computed again.
    """
    tables = {each.name: rows_of(each, profile, store, selection) for each in experiments}
    sections = [_section(each, tables[each.name]) for each in experiments]
    answered = [(section.experiment, section.claims) for section in sections]
    groups = grouped(answered)
    summary = summarise(experiments, profile, store, selection=selection)
    summary["claims"] = count_outcomes(sections)
    summary["together"] = {group.title: len(group.claims) for group in groups if group.outcome}
    context = {
        "minute": in_a_minute(answered, tables),
        "unfinished": unfinished(experiments, profile, store, selection),
        "sections": sections,
        "groups": groups,
        "summary": summary,
        "slowest": [_in_words(job) for job in summary["slowest"]],
        "profile": profile,
        "command": command,
        "version": fairsmooth.__version__,
    }
    figures = _atomic.ensure_folder(folder / "figures")
    for section in sections:
        drawn = {f"{section.experiment.name}-{name}": svg for name, svg in section.figures.items()}
        if section.picture is not None:
            drawn[section.experiment.name] = section.picture
        for name, svg in drawn.items():
            _atomic.write_bytes(figures / f"{name}.svg", str(svg).encode())
    filters: dict[str, Callable[[Any], str]] = {
        "source_name": source_name,
        "columns_name": columns_name,
    }
    for name in ("html", "md"):
        page = render(f"reproduction.{name}", context, filters)
        _atomic.write_bytes(folder / f"index.{name}", page.encode())
    _write_rows(folder / "rows.parquet", list(tables.values()))
    _atomic.write_bytes(folder / "summary.json", (json.dumps(summary, indent=2) + "\n").encode())
    return summary


def summarise(
    experiments: Sequence[Experiment],
    profile: Profile,
    store: Store,
    *,
    selection: Selection,
) -> dict[str, Any]:
    """Return how much was run, what failed, what it cost and which five jobs took longest."""
    jobs = jobs_of(experiments, profile, selection, store=store)
    records = [record for job in jobs if (record := store.get(job.key)) is not None]
    slowest = sorted(records, key=lambda record: -record["cpu_seconds"])[:5]
    return {
        "profile": profile.name,
        "trials": profile.n_trials,
        "jobs": len(jobs),
        "finished": len(records),
        "failed": sum(record["status"] != "done" for record in records),
        "stale": len(stale_jobs(jobs, store, selection.outside)),
        "cpu_seconds": round(sum(record["cpu_seconds"] for record in records), 1),
        "slowest": [
            {
                **{
                    name: record["job"].get(name, "")
                    for name in ("kind", "case", "encoding", "contender")
                },
                "cpu_seconds": record["cpu_seconds"],
            }
            for record in slowest
        ],
        "versions": records[0]["versions"] if records else {},
    }


def count_outcomes(sections: Sequence[Section]) -> dict[str, dict[str, int]]:
    """Count the verdicts on the paper's own claims: printed numbers, then every source."""
    counts: dict[str, Counter[str]] = {}
    for section in sections:
        for answers in section.claims:
            if whose_claim(section.experiment, answers) != PAPER:
                continue
            for source, verdict in answers.verdicts.items():
                counts.setdefault(source, Counter())[verdict.outcome] += 1
    return {
        source: {outcome: counts[source].get(outcome, 0) for outcome in OUTCOMES}
        for source in in_source_order(counts)
    }


def _section(experiment: Experiment, rows: pd.DataFrame) -> Section:
    makers = {
        "draws": draws_table, "ceiling": ceiling_table, "tradeoff": tradeoff_table,
        "readings": readings_table,
    }  # fmt: skip
    if experiment.kind in makers:
        tables = [makers[experiment.kind](experiment, rows)]
    else:
        tables = [] if experiment.sweep else comparison_tables(experiment, rows)
    drawn = table_figure(experiment, rows)
    return Section(
        experiment, tables, None if drawn is None else Markup(as_svg(drawn, experiment.name)),
        _figures(experiment, rows), answer_claims(experiment, rows), _failures(rows),
    )  # fmt: skip


def _figures(experiment: Experiment, rows: pd.DataFrame) -> dict[str, Markup]:
    drawn = {}
    for encoding in ENCODINGS:
        figure = draw(experiment, rows[rows["encoding"] == encoding])
        if figure is not None:
            drawn[encoding] = Markup(as_svg(figure, f"{experiment.name}-{encoding}"))
    return drawn


def _failures(rows: pd.DataFrame) -> list[str]:
    failed = rows[rows["status"] == "failed"].to_dict("records")
    texts = [
        f"{label_of(row['method'])}, {case_name(row['case'])}, {columns_name(row['encoding'])}: "
        f"{row['reason']}"
        for row in failed
    ]
    return list(dict.fromkeys(texts))


def _in_words(job: dict[str, Any]) -> dict[str, Any]:
    """Return one of the longest jobs as one reads it."""
    return {
        "what": job["kind"],
        "case": case_name(job["case"]),
        "columns": columns_name(job["encoding"]),
        "method": label_of(job["contender"]) if job["contender"] else "–",
        "seconds": f"{job['cpu_seconds']:.1f}",
    }


def _write_rows(path: Path, tables: Sequence[pd.DataFrame]) -> None:
    filled = [table.dropna(axis=1, how="all") for table in tables if len(table)]
    joined = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()
    with _atomic.replacing(path) as temporary:
        joined.to_parquet(temporary, index=False)
