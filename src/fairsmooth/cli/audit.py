"""``fairsmooth audit``: measured fairness beside what is certified."""

import time
from pathlib import Path
from typing import Annotated

import typer

from fairsmooth.cli.output import (
    messages,
    print_certificate,
    print_json,
    print_statements,
    print_summary,
)
from fairsmooth.cli.pipeline import audit_table
from fairsmooth.cli.train import Json, Unknown
from fairsmooth.data.files import read_table
from fairsmooth.persistence import read_model
from fairsmooth.reporting.report import write_report

NAME = "audit"


def command(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    data: Annotated[Path, typer.Argument(help="A table with labels and sensitive columns.")],
    report: Annotated[Path | None, typer.Option("--report", help="HTML page to write.")] = None,
    unknown: Unknown = None,
    json_output: Json = False,
) -> None:
    """Measure accuracy and gaps on a table, with intervals, beside the certificate."""
    began = time.perf_counter()
    saved = read_model(model)
    with messages.status("auditing"):
        result = audit_table(saved, read_table(data), unknown=unknown, shift=True)
    if report is not None:
        write_report(
            report,
            title=f"Audit of {model.name} on {data.name}",
            certificate=saved.classifier.certificate_,
            audit=result,
        )
        messages.print(f"Wrote {report}.", markup=False)
    summary = {**result.summary(), "seconds": time.perf_counter() - began}
    if json_output:
        print_json({**result.to_dict(), **summary})
        return
    print_certificate(saved.classifier.certificate_)
    print_summary(summary)
    print_statements(result.statements)
