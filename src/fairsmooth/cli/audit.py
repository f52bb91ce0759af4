"""``fairsmooth audit``: measured fairness beside what is certified."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairsmooth.cli.options import Data, Decimal, Encoding, Json, Model, Separator, Strict, Unknown

if TYPE_CHECKING:
    from fairsmooth.metrics import Audit
    from fairsmooth.tables import TableModel

NAME = "audit"


def command(
    model: Model,
    data: Data,
    report: Annotated[Path | None, typer.Option("--report", help="HTML page to write.")] = None,
    unknown: Unknown = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    strict: Strict = False,
    json_output: Json = False,
) -> None:
    """Measure accuracy and gaps on a table, with intervals, beside the certificate."""
    from fairsmooth.cli.targets import require_target

    began = time.perf_counter()
    if report is not None:
        require_target(report, inputs=[model, data])
    from fairsmooth.cli.output import messages, print_json, print_notes, say
    from fairsmooth.cli.reading import read
    from fairsmooth.reporting.report import write_report
    from fairsmooth.tables import TableModel

    loaded = TableModel.load(model)
    how = {"sep": sep, "decimal": decimal, "encoding": encoding}
    table, notes = read(data, text=loaded.text_columns, **how)
    with messages.status("auditing"):
        audited = loaded.audited(table, unknown=unknown, strict=strict)
        result = audited.audit(loaded.classifier, shift=True)
    print_notes([*notes, *audited.notes])
    if report is not None:
        title = f"Audit of {model.name} on {data.name}"
        certificate, known = loaded.certificate, loaded.provenance
        write_report(report, title=title, certificate=certificate, audit=result, provenance=known)
        say(f"Wrote {report}.")
    seconds = time.perf_counter() - began
    if json_output:
        print_json({**result.to_dict(), "seconds": seconds, "provenance": loaded.describe()})
    else:
        _print(loaded, result)


def _print(model: "TableModel", result: "Audit") -> None:
    from fairsmooth.cli.output import (
        print_certificate,
        print_lines,
        print_statements,
        print_summary,
    )

    assert model.provenance is not None  # or there would have been nothing to audit
    print_lines(model.provenance.lines())
    print_certificate(model.certificate)
    print_summary(result.summary())
    print_statements(result.statements)
