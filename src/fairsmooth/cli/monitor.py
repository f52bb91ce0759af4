"""``fairsmooth monitor``: the gaps of a rule in use, batch by batch."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairsmooth.cli.documents import read_document, write_document
from fairsmooth.cli.limits import (
    Confidence,
    MaxDp,
    MaxEo,
    MinRatio,
    Scores,
    ScoresLabel,
    ScoresSensitive,
    Threshold,
    decided_rows,
    limits_of,
    model_and_data,
    refuse_options_of_a_model,
)
from fairsmooth.cli.options import Decimal, Encoding, Json, Positive, Separator, Unknown
from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    from fairsmooth.guarantees import GapMonitor, Limits
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.decided import DecidedRows

NAME = "monitor"
_BARS = "▁▂▃▄▅▆▇█"


def command(
    model: Annotated[Path, typer.Argument(help="A model file; with --scores the batch itself.")],
    batch: Annotated[Path | None, typer.Argument(help="A table with the new rows.")] = None,
    *,
    state: Annotated[Path, typer.Option("--state", help="Where the counts are kept.")],
    max_dp: MaxDp = None,
    max_eo: MaxEo = None,
    min_ratio: MinRatio = None,
    confidence: Confidence = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the batch; its contents if left out.")
    ] = None,
    scores: Scores = None,
    label: ScoresLabel = None,
    positive: Positive = None,
    sensitive: ScoresSensitive = None,
    threshold: Threshold = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="HTML page to write, with a chart over time.")
    ] = None,
    unknown: Unknown = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    json_output: Json = False,
) -> None:
    """Add a batch and tell what holds at all times at once; exit code 1 on an alarm.

    The state holds counts only, no rows. A batch that was added before is ignored; labels may
    come later, with the same batch.
    """
    from fairsmooth.cli.output import print_notes
    from fairsmooth.cli.reading import read
    from fairsmooth.cli.targets import require_target

    path, table_path = model_and_data(model, batch, scores)
    if path is not None:
        refuse_options_of_a_model(label, positive, sensitive, threshold)
    sources = [table_path, *([] if path is None else [path])]
    require_target(state, inputs=sources)
    if report is not None:
        require_target(report, inputs=sources, others=[state])
    asked = (max_dp, max_eo, min_ratio) != (None, None, None)
    limits = limits_of(max_dp, max_eo, min_ratio, confidence) if asked else None
    from fairsmooth.tables import TableModel

    loaded = None if path is None else TableModel.load(path)
    rule = _rule(path, scores=scores, threshold=threshold, sensitive=sensitive, positive=positive)
    monitor, rule = _monitor(state, limits, confidence, rule)
    text = () if loaded is None else loaded.text_columns
    table, notes = read(table_path, text=text, sep=sep, decimal=decimal, encoding=encoding)
    rows = decided_rows(
        loaded, table, scores=scores, label=label, positive=positive, sensitive=sensitive,
        threshold=threshold, unknown=unknown,
    )  # fmt: skip
    rule = _same_meaning(state, rule, rows.selected)
    groups = rows.sensitive.iloc[:, 0] if rows.sensitive.shape[1] == 1 else rows.sensitive
    monitor.update(rows.decisions, sensitive_features=groups, y_true=rows.y, batch=name)
    write_document(state, {**monitor.to_dict(), "rule": rule})
    print_notes([*notes, *rows.notes])
    if report is not None:
        whose = {"column": scores, "model_digest": rule.get("model")}
        _write_report(report, monitor, rows, loaded, name=scores or model.name, **whose)
    _tell(monitor, json_output)
    if monitor.status == "alarm":
        raise typer.Exit(1)


def _write_report(
    report: Path,
    monitor: "GapMonitor",
    rows: "DecidedRows",
    model: "TableModel | None",
    *,
    name: str,
    **whose: Any,
) -> None:
    from fairsmooth.cli.output import say
    from fairsmooth.reporting.subject import Subject
    from fairsmooth.reporting.watching import write_watch

    subject = Subject(
        provenance=None if model is None else model.provenance,
        sensitive=tuple(map(str, rows.sensitive)),
        positive=rows.selected,
        threshold=rows.threshold,
        rows="rows watched",
        n_rows=sum(cell["rows"] for cell in monitor.counts if cell["label"] is None),
        **whose,
    )
    write_watch(report, monitor, title=f"Monitor of {name}", notes=rows.notes, subject=subject)
    say(f"Wrote {report}.")


def _tell(monitor: "GapMonitor", json_output: bool) -> None:
    from fairsmooth.cli.output import print_json, print_lines, print_notes

    if json_output:
        # The document has these four keys and no others; what was noticed is told beside it.
        print_notes(monitor.notes)
        keys = ("status", "bounds", "measured", "counts")
        print_json({key: getattr(monitor, key) for key in keys})
    else:
        print_lines(str(monitor).splitlines())
        print_lines(_chart(monitor))


def _rule(path: Path | None, **named: Any) -> dict[str, Any]:
    """Say whose decisions about which groups are watched: others need another state."""
    if path is None:
        return {**named, "selected": None}  # known once a batch is read
    from fairsmooth.persistence import file_digest

    return {"model": file_digest(path)}


def _completed(rule: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Take over what the positive value is: it is named with labels, which may come later."""
    open_ones = [name for name in ("positive", "selected") if rule.get(name, "") is None]
    return {**rule, **{name: other.get(name) for name in open_ones}}


def _monitor(
    path: Path, limits: "Limits | None", confidence: float | None, rule: dict[str, Any]
) -> "tuple[GapMonitor, dict[str, Any]]":
    """Return the monitor of a state, or a new one, and the rule that it watches."""
    from fairsmooth.guarantees import GapMonitor

    if not path.exists():
        if limits is None:
            raise InputError(
                f"Expected limits for a new state, got none and no file at {path}. "
                "Give --max-dp, --max-eo or --min-ratio."
            )
        return GapMonitor(limits), rule
    plain = read_document(path, "the state of a monitor")
    found = plain.pop("rule", None)
    # Earlier versions did not write which value of a column means selected.
    known = {**dict.fromkeys(rule), **(found if isinstance(found, dict) else {})}
    rule = _completed(rule, known)
    if _completed(known, rule) != rule:
        raise InputError(
            f"Expected {path} to watch the same rule, got the state of another. "
            "Start a new state for another model, threshold, positive value or sensitive column."
        )
    monitor = GapMonitor.from_dict(plain)
    asked = monitor.limits if limits is None else limits.to_dict()
    sure = monitor.confidence if confidence is None else confidence
    if (asked, sure) != (monitor.limits, monitor.confidence):
        raise InputError(
            f"Expected the limits of {path}, {monitor.limits} at confidence "
            f"{monitor.confidence:g}, got {asked} at {sure:g}. "
            "Limits are fixed when a state begins; start a new one."
        )
    return monitor, rule


def _same_meaning(path: Path, rule: dict[str, Any], selected: str | None) -> dict[str, Any]:
    """Refuse decisions of which the contrary was counted as selected in the batches before."""
    from fairsmooth.tables.decision_column import mean_alike

    if selected is None or "selected" not in rule:
        return rule
    known = str(rule["selected"] or selected)
    if not mean_alike(known, selected):
        raise InputError(
            f"Expected {known!r} to mean selected, as in the batches that {path} has counted, "
            f"got {selected!r}. Name the same --positive from the first batch on, or start a new "
            "state."
        )
    return {**rule, "selected": known}


def _chart(monitor: "GapMonitor", width: int = 60) -> list[str]:
    """Draw what was measured and what is bounded after each batch, one character a batch."""
    if len(monitor.history) < 2:
        return []
    lines = []
    for name, limit in monitor.limits.items():
        largest = max(1.0 if name == "impact_ratio" else 2.0 * limit, 1e-9)
        for kind in ("measured", "bounds"):
            values = [entry[kind].get(name) for entry in monitor.history[-width:]]
            bars = "".join(" " if v is None else _bar(v / largest) for v in values)
            lines.append(f"  {name} {'bound   ' if kind == 'bounds' else 'measured'} {bars}")
        lines.append(f"  {'':{len(name)}} full height is {largest:g}, the limit {limit:g}")
    return lines


def _bar(share: float) -> str:
    return _BARS[min(len(_BARS) - 1, max(0, int(share * len(_BARS))))]
