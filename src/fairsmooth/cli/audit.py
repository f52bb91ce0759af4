"""``fairsmooth audit``: measured fairness, of a model beside its certificate or of any system."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairsmooth.cli.gate import KEPT, Measured, gate
from fairsmooth.cli.limits import (
    MaxDp,
    MaxEo,
    MinRatio,
    Scores,
    Threshold,
    decided_rows,
    limits_of,
    model_and_data,
    refuse_options_of_a_model,
)
from fairsmooth.cli.options import (
    Decimal,
    Encoding,
    Json,
    Positive,
    Separator,
    Strict,
    Unknown,
)
from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.metrics import Audit, BiasAudit
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.auditing import AuditedRows
    from fairsmooth.tables.decided import DecidedRows

NAME = "audit"


def command(
    model: Annotated[Path, typer.Argument(help="A model file; with --scores the table itself.")],
    data: Annotated[
        Path | None,
        typer.Argument(help="A table: .csv, .tsv (also .gz, .zst), .parquet or .xlsx."),
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="HTML page to write.")] = None,
    scores: Scores = None,
    label: Annotated[str | None, typer.Option("--label", help="Label column.")] = None,
    positive: Positive = None,
    sensitive: Annotated[
        list[str] | None, typer.Option("--sensitive", help="Sensitive column; repeatable.")
    ] = None,
    threshold: Threshold = None,
    max_dp: MaxDp = None,
    max_eo: MaxEo = None,
    min_ratio: MinRatio = None,
    standard: Annotated[
        str | None, typer.Option("--standard", help="Add the table of a standard: nyc-ll144.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Write the table of --standard here.")
    ] = None,
    unknown: Unknown = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    strict: Strict = False,
    json_output: Json = False,
) -> None:
    """Measure accuracy and gaps on a table, with intervals, beside the certificate.

    Of a model, or with --scores of any system whose scores or decisions are a column. A table
    without labels gives what needs none. Limits are compared with what was measured, which
    guarantees nothing: exit code 1 if one is broken.
    """
    began = time.perf_counter()
    path, table_path = model_and_data(model, data, scores)
    if path is not None:
        refuse_options_of_a_model(label, positive, sensitive, threshold)
    _require_targets(report, csv, standard, [table_path, *([] if path is None else [path])])
    asked = (max_dp, max_eo, min_ratio) != (None, None, None)
    limits = limits_of(max_dp, max_eo, min_ratio, 0.95) if asked else None
    from fairsmooth.cli.output import messages, print_notes
    from fairsmooth.cli.reading import read
    from fairsmooth.tables import TableModel

    loaded = None if path is None else TableModel.load(path)
    text = [] if loaded is None else loaded.text_columns
    table, notes = read(table_path, text=text, sep=sep, decimal=decimal, encoding=encoding)

    def decided() -> "DecidedRows":
        return decided_rows(
            loaded, table, scores=scores, label=label, positive=positive, sensitive=sensitive,
            threshold=threshold, unknown=unknown,
        )  # fmt: skip

    with messages.status("auditing"):
        if loaded is None:
            facts = {"scores": scores, "label": label, "positive": positive}
            done = _of_a_column(decided(), facts, standard, strict=strict)
        else:
            rows = None if standard is None else decided()
            done = _of_a_model(loaded, table, rows, standard, unknown=unknown, strict=strict)
    measured = [] if limits is None else gate(done.audit, limits)
    print_notes([*notes, *done.notes])
    title = f"Audit of {scores if path is None else path.name} on {table_path.name}"
    # What the page names, so that its reader can do this again.
    done = replace(done, path=path, table_file=table_path.name)
    _write(done, report, csv, title=title)
    _print(done, measured, time.perf_counter() - began, json_output)
    if not all(one.holds for one in measured):
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Done:
    audit: "Audit"
    notes: list[str]
    provenance: dict[str, Any]
    model: "TableModel | None" = None
    standard: "BiasAudit | None" = None
    rows: "AuditedRows | None" = None
    digest: str | None = None
    path: Path | None = None
    table_file: str = "DATA"


def _of_a_model(
    model: "TableModel",
    table: "pd.DataFrame",
    rows: "DecidedRows | None",
    standard: str | None,
    *,
    unknown: str | None,
    strict: bool,
) -> _Done:
    from fairsmooth.data.frames import table_digest
    from fairsmooth.tables.any_system import standard_table

    audited = model.audited(table, unknown=unknown, strict=strict)
    result = audited.audit(model.classifier, shift=True)
    asked = None
    if rows is not None and standard is not None:
        asked = standard_table(standard, rows, by_scores=False)
    about: dict[str, Any] = {"rows": audited, "digest": table_digest(table)}
    return _Done(result, [*audited.notes], model.describe(), model, asked, **about)


def _of_a_column(
    rows: "DecidedRows", facts: dict[str, Any], standard: str | None, *, strict: bool
) -> _Done:
    from fairsmooth.tables.any_system import audit_system, describe_system, standard_table

    found = audit_system(rows, strict=strict)
    asked = None if standard is None else standard_table(standard, rows, by_scores=True)
    notes = [*rows.notes, *found.notes]
    return _Done(found.audit, notes, describe_system(rows, facts), standard=asked)


def _require_targets(
    report: Path | None, csv: Path | None, standard: str | None, inputs: list[Path]
) -> None:
    from fairsmooth.cli.targets import require_target

    if csv is not None and standard is None:
        raise InputError("Expected --standard with --csv, got none. Say which table to write.")
    if standard is not None:
        from fairsmooth import _validate
        from fairsmooth.tables.any_system import STANDARDS

        _validate.one_of(STANDARDS, standard=standard)
    if report is not None:
        require_target(report, inputs=inputs)
    if csv is not None:
        require_target(csv, inputs=inputs, others=[] if report is None else [report])


def _write(done: _Done, report: Path | None, csv: Path | None, *, title: str) -> None:
    from fairsmooth._atomic import write_bytes
    from fairsmooth.cli.output import say

    if report is not None:
        write_bytes(report, _page(done, title).encode())
        say(f"Wrote {report}.")
    if csv is not None and done.standard is not None:
        write_bytes(csv, done.standard.to_csv().encode())
        say(f"Wrote {csv}.")


def _page(done: _Done, title: str) -> str:
    from fairsmooth.cli.pages import ModelPage, system_subject
    from fairsmooth.reporting.report import render_report

    more: dict[str, Any] = {"notes": done.notes, "standard": done.standard}
    if done.model is None or done.path is None:
        subject = system_subject(done.provenance, done.table_file)
        return render_report(title, None, done.audit, subject=subject, **more)
    about = ModelPage(
        done.model, done.path, done.audit, done.rows, done.digest, table_file=done.table_file
    )
    return about.render(title, **more)


def _print(done: _Done, measured: list[Measured], seconds: float, json_output: bool) -> None:
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
    broken = [one for one in measured if not one.holds]
    for one in broken:
        say(str(one))
    if measured and not broken:
        say(KEPT)
