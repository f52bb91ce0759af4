"""``fairsmooth audit``: measured fairness, of a model beside its certificate or of any system."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairsmooth.cli.audit_outcome import Audited, Outcome
from fairsmooth.cli.by_parts import audit_by_parts, wants_parts
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
    Jobs,
    Json,
    Positive,
    Scheduler,
    Separator,
    Strict,
    Unknown,
)
from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.data.files.stored import StoredTable
    from fairsmooth.tables import TableModel
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
    parts: Annotated[
        Path | None,
        typer.Option(
            "--parts", help="Score every file of a folder by itself, into this folder; resumable."
        ),
    ] = None,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
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
    limits = limits_of(max_dp, max_eo, min_ratio, None) if asked else None
    title = f"Audit of {scores if path is None else path.name} on {table_path.name}"
    outcome = Outcome(path, table_path, limits, report, csv, title, began, json_output)
    if wants_parts(table_path, parts, jobs=jobs, scheduler=scheduler, asked=parts is not None):
        options = {"unknown": unknown, "strict": strict}
        outcome.finish(_of_parts(path, table_path, parts, standard, options, jobs, scheduler))
        return
    from fairsmooth.cli.output import messages
    from fairsmooth.cli.reading import opened
    from fairsmooth.tables import TableModel

    loaded = None if path is None else TableModel.load(path)
    text = [] if loaded is None else loaded.text_columns
    how: dict[str, Any] = {"text": text, "sep": sep, "decimal": decimal, "encoding": encoding}
    table, notes = opened(table_path, whole=_why_whole(loaded, standard), **how)

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
    outcome.finish(done, notes)


def _of_parts(
    path: Path | None,
    table: Path,
    parts: Path | None,
    standard: str | None,
    options: dict[str, Any],
    jobs: int,
    scheduler: str | None,
) -> Audited:
    assert parts is not None  # or there would be none
    if path is None or standard is not None:
        raise InputError(
            "Expected a model, and no --standard, with --parts, got "
            + ("--scores." if path is None else "--standard.")
        )
    model, found, notes = audit_by_parts(
        path, table, parts, options, jobs=jobs, scheduler=scheduler
    )
    return Audited(found, notes, model.describe(), model)


def _of_a_model(
    model: "TableModel",
    table: "pd.DataFrame | StoredTable",
    rows: "DecidedRows | None",
    standard: str | None,
    *,
    unknown: str | None,
    strict: bool,
) -> Audited:
    from fairsmooth.data.files.stored import StoredTable
    from fairsmooth.data.frames import table_digest
    from fairsmooth.tables.any_system import standard_table
    from fairsmooth.tables.stored_auditing import audited_stored

    how: dict[str, Any] = {"unknown": unknown, "strict": strict}
    if isinstance(table, StoredTable):
        audited = audited_stored(model, table, **how)
    else:
        audited = model.audited(table, **how)
    result = audited.audit(model.classifier, shift=True)
    asked = None
    if rows is not None and standard is not None:
        asked = standard_table(standard, rows, by_scores=False)
    notes = [*audited.notes, *audited.shift_notes]
    # Rows that stay in their files have no regression beside them: it would have to see them all.
    stored = isinstance(table, StoredTable)
    about: dict[str, Any] = {"rows": None if stored else audited}
    about["digest"] = table.digest() if isinstance(table, StoredTable) else table_digest(table)
    return Audited(result, notes, model.describe(), model, asked, **about)


def _why_whole(model: "TableModel | None", standard: str | None) -> str | None:
    """Say why an audit needs its table in memory, or None where it does not."""
    from fairsmooth.tables.stored_auditing import can_audit_stored

    if standard is not None:
        return "the table of a standard is made of all rows"
    if model is None or can_audit_stored(model):
        return None
    return "forecasts and crossed columns spell the rows out"


def _of_a_column(
    rows: "DecidedRows", facts: dict[str, Any], standard: str | None, *, strict: bool
) -> Audited:
    from fairsmooth.tables.any_system import audit_system, describe_system, standard_table

    found = audit_system(rows, strict=strict)
    asked = None if standard is None else standard_table(standard, rows, by_scores=True)
    notes = [*rows.notes, *found.notes]
    return Audited(found.audit, notes, describe_system(rows, facts), standard=asked)


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
