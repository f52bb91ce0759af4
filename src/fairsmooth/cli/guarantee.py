"""``fairsmooth guarantee``: proved bounds on the gaps between groups."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairsmooth.cli.limits import (
    Confidence,
    MaxDp,
    MaxEo,
    MinRatio,
    Scores,
    ScoresLabel,
    ScoresSensitive,
    ShiftOption,
    Threshold,
    decided_rows,
    limits_of,
    model_and_data,
    parse_shift,
    refuse_options_of_a_model,
)
from fairsmooth.cli.options import Decimal, Encoding, Json, Positive, Separator, Unknown
from fairsmooth.cli.planning import needed_rows, planned, print_plan, require_one_question
from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.data.files.stored import StoredTable
    from fairsmooth.guarantees import GapGuarantee, Limits
    from fairsmooth.guarantees.claims import Shift
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.decided import DecidedRows

NAME = "guarantee"


def command(
    model: Annotated[
        Path | None, typer.Argument(help="A model file; with --scores the table itself.")
    ] = None,
    data: Annotated[Path | None, typer.Argument(help="The safety rows.")] = None,
    max_dp: MaxDp = None,
    max_eo: MaxEo = None,
    min_ratio: MinRatio = None,
    confidence: Confidence = None,
    shift: ShiftOption = None,
    attempt: Annotated[
        int | None,
        typer.Option("--attempt", help="Try number in a series declared from its first try."),
    ] = None,
    scores: Scores = None,
    label: ScoresLabel = None,
    positive: Positive = None,
    sensitive: ScoresSensitive = None,
    threshold: Threshold = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Tell how many rows a guarantee would need; test none.")
    ] = False,
    rates: Annotated[
        str | None,
        typer.Option("--rates", help="With --plan and no table: expected rates, such as .2,.17."),
    ] = None,
    shares: Annotated[
        str | None,
        typer.Option("--shares", help="With --rates: the groups' shares; equal if left out."),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="JSON to write.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="HTML page to write.")] = None,
    unknown: Unknown = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    json_output: Json = False,
) -> None:
    """Bound the gaps between groups, exactly and for finite samples; exit code 1 if a limit fails.

    The rows must be safety rows: rows that neither training nor any choice has seen. One set of
    safety rows answers one question once.
    """
    limits = limits_of(max_dp, max_eo, min_ratio, confidence)
    require_one_question(plan, model, [rates, shares], [output, report])
    moved = parse_shift(shift)
    if plan and model is None:
        print_plan(planned(limits, moved, rates, shares), json_output)
        return
    if model is None:
        raise InputError("Expected a model and a table, or a table and --scores, got neither.")
    path, table_path = model_and_data(model, data, scores)
    named: dict[str, Any] = {
        "label": label,
        "positive": positive,
        "sensitive": sensitive,
        "threshold": threshold,
    }
    if path is not None:
        refuse_options_of_a_model(**named)
    _require_output([output, report], path, table_path)
    how = {"sep": sep, "decimal": decimal, "encoding": encoding}
    safety = SafetyRows.read(path, table_path, scores=scores, unknown=unknown, how=how, **named)
    if plan:
        from fairsmooth.tables.guaranteeing import rows_enough

        print_plan(rows_enough(safety.rows, limits, shift=moved), json_output)
        return
    found = safety.guarantee(limits, moved, attempt)
    _tell(found, output, json_output)
    if report is not None:
        _write_report(report, safety, found, path, table_path, output)
    if not found.holds:
        if attempt is None:
            _say_what_would_do(found, safety.rows, limits, moved)
        raise typer.Exit(1)


@dataclass(frozen=True)
class SafetyRows:
    """Rows that a guarantee is tested on, and whose decisions they hold."""

    rows: "DecidedRows"
    table: "pd.DataFrame | StoredTable"
    model: "TableModel | None"
    facts: dict[str, Any]

    @classmethod
    def read(
        cls,
        path: Path | None,
        table_path: Path,
        *,
        scores: str | None,
        unknown: str | None,
        how: dict[str, Any],
        **named: Any,
    ) -> "SafetyRows":
        """Read the rows and decide them by the model, or take the decisions of a column."""
        from fairsmooth.cli.output import print_notes
        from fairsmooth.cli.reading import opened
        from fairsmooth.persistence import file_digest
        from fairsmooth.tables import TableModel
        from fairsmooth.tables.guaranteeing import unguaranteed_groups

        model = None if path is None else TableModel.load(path)
        text = () if model is None else model.text_columns
        table, notes = opened(table_path, text=text, **how)
        rows = decided_rows(model, table, scores=scores, unknown=unknown, **named)
        groups = () if model is None else model.classifier.groups_
        print_notes([*notes, *rows.notes, *unguaranteed_groups(rows, groups)])
        known = None if model is None else model.provenance
        facts = {
            "model": None if path is None else file_digest(path),
            "column": scores,
            "label": named["label"] if known is None else known.label,
            "positive": named["positive"] if known is None else known.positive,
            "unknown": unknown,
            "selected": rows.selected,
        }
        return cls(rows, table, model, facts)

    def guarantee(
        self, limits: "Limits", shift: "Shift | None", attempt: int | None
    ) -> "GapGuarantee":
        """Refuse rows that were trained on, then test the limits, once."""
        from fairsmooth.cli.output import say
        from fairsmooth.tables.guaranteeing import guarantee_rows
        from fairsmooth.tables.overlap import require_no_overlap

        known = None if self.model is None else self.model.provenance
        say(f"Note: {require_no_overlap(known, self.table, self.rows.digest)}")
        return guarantee_rows(self.rows, limits, shift=shift, attempt=attempt, facts=self.facts)


def _require_output(outputs: list[Path | None], path: Path | None, table_path: Path) -> None:
    from fairsmooth.cli.targets import require_target

    inputs = [table_path, *([] if path is None else [path])]
    given = [output for output in outputs if output is not None]
    for position, output in enumerate(given):
        require_target(output, inputs=inputs, others=given[:position])


def _write_report(
    report: Path,
    safety: SafetyRows,
    found: "GapGuarantee",
    path: Path | None,
    table_path: Path,
    output: Path | None,
) -> None:
    """Write what the counts tell: rates, bounds, and how they widen as people change."""
    from fairsmooth.cli.pages import checks_of, write_page
    from fairsmooth.reporting.objects import guarantee_subject
    from fairsmooth.reporting.report import Report

    known = safety.model
    subject = guarantee_subject(
        found,
        provenance=None if known is None else known.provenance,
        table_file=table_path.name,
        model_file="MODEL" if path is None else path.name,
        guarantee_file="GUARANTEE.json" if output is None else output.name,
        checks=checks_of(path, found.to_dict()),
    )
    whose = safety.facts["column"] if path is None else path.name
    title = f"Gap guarantee of {whose} on {table_path.name}"
    certificate = None if known is None else known.certificate
    write_page(report, Report(title, subject, None, certificate, found).to_html())


def _tell(found: "GapGuarantee", output: Path | None, json_output: bool) -> None:
    from fairsmooth.cli.documents import write_document
    from fairsmooth.cli.output import print_json, print_lines, say

    if output is not None:
        write_document(output, found.to_dict())
        say(f"Wrote {output}.")
    if json_output:
        print_json(found.to_dict())
    else:
        print_lines(str(found).splitlines())


def _say_what_would_do(
    found: "GapGuarantee", rows: "DecidedRows", limits: "Limits", shift: "Shift | None"
) -> None:
    from fairsmooth.cli.output import say
    from fairsmooth.guarantees.quantities import QUANTITIES
    from fairsmooth.tables.guaranteeing import rows_enough

    for name, needed in rows_enough(rows, limits, shift=shift).items():
        told = f"At the measured rates {needed_rows(name, needed)}"
        if found.measured[name] is None:
            words, why = name.replace("_", " "), QUANTITIES[name].lacking
            told = f"It cannot be told how many rows the limit on {words} needs: {why}"
        say(f"{told} (these rows are now spent).")
