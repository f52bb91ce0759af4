"""What becomes of an audit: compared with limits, written as a page, printed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairsmooth.cli.gate import Measured, gate, verdicts

if TYPE_CHECKING:
    from fairsmooth.guarantees import Limits
    from fairsmooth.metrics import Audit, BiasAudit
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.auditing import AuditedRows


@dataclass(frozen=True)
class Audited:
    """What was measured, of what; with the rows where they are at hand."""

    audit: "Audit"
    notes: list[str]
    provenance: dict[str, Any]
    model: "TableModel | None" = None
    standard: "BiasAudit | None" = None
    rows: "AuditedRows | None" = None
    digest: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What becomes of an audit: compared, written, printed."""

    path: Path | None
    table_path: Path
    limits: "Limits | None"
    report: Path | None
    csv: Path | None
    title: str
    began: float
    json_output: bool

    def finish(self, done: Audited, notes: Sequence[str] = ()) -> None:
        """Say it all; the exit code is 1 if a limit is broken."""
        from fairsmooth.cli.output import print_notes

        measured = [] if self.limits is None else gate(done.audit, self.limits)
        print_notes([*notes, *done.notes])
        if self.report is not None:
            from fairsmooth.cli.pages import write_page

            write_page(self.report, self._page(done, measured))
        _write_standard(done, self.csv)
        _print(done, measured, time.perf_counter() - self.began, self.json_output)
        if not all(one.holds for one in measured):
            raise typer.Exit(1)

    def _page(self, done: Audited, measured: Sequence[Measured]) -> str:
        from fairsmooth.cli.pages import ModelPage, system_subject
        from fairsmooth.reporting.report import render_report

        # A page that stays silent about the limits would tell less than the exit code.
        judged = verdicts(measured)
        more: dict[str, Any] = {"notes": [*judged, *done.notes], "standard": done.standard}
        name = self.table_path.name
        if done.model is None or self.path is None:
            subject = system_subject(done.provenance, name)
            return render_report(self.title, None, done.audit, subject=subject, **more)
        about = ModelPage(
            done.model, self.path, done.audit, done.rows, done.digest, table_file=name
        )
        return about.render(self.title, **more)


def _write_standard(done: Audited, csv: Path | None) -> None:
    from fairsmooth._atomic import write_bytes
    from fairsmooth.cli.output import say

    if csv is not None and done.standard is not None:
        write_bytes(csv, done.standard.to_csv().encode())
        say(f"Wrote {csv}.")


def _print(done: Audited, measured: list[Measured], seconds: float, json_output: bool) -> None:
    from fairsmooth.cli.audited import limits_dict, print_audited
    from fairsmooth.cli.output import print_json, say

    if json_output:
        document = {**done.audit.to_dict(), "seconds": seconds, "provenance": done.provenance}
        if done.standard is not None:
            document["standard"] = done.standard.to_dict()
        if measured:
            document["limits"] = limits_dict(measured)
        print_json(document)
    else:
        print_audited(done.model, done.provenance, done.audit, done.standard)
    for line in verdicts(measured):
        say(line)
