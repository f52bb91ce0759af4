"""The page of a reproduction: ours beside printed, claims with verdicts, figures."""

import json
from collections import Counter
from collections.abc import Sequence
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
from fairsmooth.reporting.claims import PRINTED, ClaimAnswers, answer_claims
from fairsmooth.reporting.compare import comparison_tables
from fairsmooth.reporting.experiment_figures import draw
from fairsmooth.reporting.figures import as_svg
from fairsmooth.reporting.minute import in_a_minute
from fairsmooth.reporting.page import render
from fairsmooth.reporting.readings_table import readings_table
from fairsmooth.reporting.sweep_tables import ceiling_table, draws_table, tradeoff_table
from fairsmooth.reporting.tables import Table


@dataclass(frozen=True)
class Section:
    """One experiment as the page shows it."""

    experiment: Experiment
    tables: list[Table]
    figures: dict[str, Markup]
    claims: list[ClaimAnswers]
    failures: list[str] = field(default_factory=list)

    @property
    def sources(self) -> list[str]:
        """What the claims were put to, in the order of the columns."""
        asked = {source for answers in self.claims for source in answers.verdicts}
        usual = [PRINTED, *ENCODINGS]
        return [*usual, *sorted(asked - set(usual))] if asked & set(usual) else sorted(asked)


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
    summary = summarise(experiments, profile, store, selection=selection)
    summary["claims"] = count_outcomes(sections)
    answered = [(section.experiment, section.claims) for section in sections]
    context = {
        "minute": in_a_minute(answered, tables),
        "sections": sections,
        "summary": summary,
        "profile": profile,
        "command": command,
        "version": fairsmooth.__version__,
    }
    figures = _atomic.ensure_folder(folder / "figures")
    for section in sections:
        for encoding, figure in section.figures.items():
            name = f"{section.experiment.name}-{encoding}.svg"
            _atomic.write_bytes(figures / name, str(figure).encode())
    for name in ("html", "md"):
        page = render(f"reproduction.{name}", context)
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
            if answers.claim.whose != PAPER:
                continue
            for source, verdict in answers.verdicts.items():
                counts.setdefault(source, Counter())[verdict.outcome] += 1
    return {
        source: {outcome: found.get(outcome, 0) for outcome in OUTCOMES}
        for source, found in counts.items()
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
    return Section(
        experiment, tables, _figures(experiment, rows), answer_claims(experiment, rows),
        _failures(rows),
    )  # fmt: skip


def _figures(experiment: Experiment, rows: pd.DataFrame) -> dict[str, Markup]:
    drawn = {}
    for encoding in ENCODINGS:
        figure = draw(experiment, rows[rows["encoding"] == encoding])
        if figure is not None:
            drawn[encoding] = Markup(as_svg(figure))
    return drawn


def _failures(rows: pd.DataFrame) -> list[str]:
    failed = rows[rows["status"] == "failed"].to_dict("records")
    texts = [
        f"{label_of(row['method'])}, {row['case']}, {row['encoding']}: {row['reason']}"
        for row in failed
    ]
    return list(dict.fromkeys(texts))


def _write_rows(path: Path, tables: Sequence[pd.DataFrame]) -> None:
    filled = [table.dropna(axis=1, how="all") for table in tables if len(table)]
    joined = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()
    with _atomic.replacing(path) as temporary:
        joined.to_parquet(temporary, index=False)
