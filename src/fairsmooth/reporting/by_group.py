"""The tables of a page: what was measured, group by group."""

import math
from collections.abc import Sequence

from fairsmooth.core.outward import upper_text
from fairsmooth.metrics import Audit, Record
from fairsmooth.metrics.auditing.score_counts import FEWEST
from fairsmooth.reporting.selection import names_in_order
from fairsmooth.reporting.tables import Cell, Table
from fairsmooth.reporting.wording import percent

_RATES = {
    "selection_rate": "selected",
    "impact_ratio": "impact ratio",
    "base_rate": "truly positive",
    "true_positive_rate": "selected of the positive",
    "false_positive_rate": "selected of the negative",
    "accuracy": "decided rightly",
}
_SCORES = {
    "precision": "positive of the selected",
    "auc": "AUC",
    "calibration": "score less positive share",
    "expected_calibration_error": "calibration error",
    "epsilon_linf_all_rows": "measured distance to own classifier",
    "epsilon": "certified bound on it",
    "tying_cost_log_loss": "tying cost (log-loss)",
}
_IN_PERCENT = {
    "selection_rate", "base_rate", "true_positive_rate", "false_positive_rate", "accuracy",
    "precision",
}  # fmt: skip


def rates_table(audit: Audit) -> Table:
    """Return selection, labels and errors of every group."""
    return _table(audit, "Rates by group", _RATES)


def scores_table(audit: Audit) -> Table:
    """Return what is known of the scores of every group, and of its own classifier."""
    return _table(audit, "Scores by group", _SCORES)


def _table(audit: Audit, title: str, metrics: dict[str, str]) -> Table:
    names = names_in_order(audit)
    shown = [m for m in metrics if any(_cell(audit, m, g).text != "–" for g in audit.groups)]
    rows = []
    for group, name in names.items():
        record = audit.find("selection_rate", group)
        people = Cell("–" if record is None else f"{record.count:,}")
        rows.append((Cell(name), people, *(_cell(audit, metric, group) for metric in shown)))
    return Table(title, ("group", "people", *(metrics[m] for m in shown)), tuple(rows))


def _cell(audit: Audit, metric: str, group: object) -> Cell:
    if metric == "epsilon":
        if audit.certificate is None:
            return Cell("–")
        return Cell(upper_text(audit.certificate.epsilon_by_group[group]))
    record = audit.find(metric, group)
    if record is None or math.isnan(record.value):
        return Cell("–", title="" if record is None else record.note)
    text = percent(record.value) if metric in _IN_PERCENT else f"{record.value:.4f}"
    return Cell(text, title=_ends(record))


def _ends(record: Record) -> str:
    if record.low is None or record.high is None:
        return record.note
    return f"between {record.low:.4f} and {record.high:.4f}"


def every_record(audit: Audit) -> Table:
    """Return all that was measured; cells that hold few people say so instead."""
    names = names_in_order(audit)
    rows = []
    for record in audit.records:
        name = "" if record.group is None else names.get(record.group, str(record.group))
        numbers = [_four(x) for x in (record.value, record.low, record.high)]
        if record.metric.startswith("calibration_bin") and record.count < FEWEST:
            numbers = [f"fewer than {FEWEST} people", "–", "–"]
        bound = "–" if record.bound is None else upper_text(record.bound)
        metric = record.metric.replace("_", " ")
        count = f"{record.count:,}" if record.count >= FEWEST else f"under {FEWEST}"
        rows.append([metric, name, *numbers, bound, count, record.note])
    columns = ("measure", "group", "value", "from", "to", "certified", "people", "note")
    return Table("Every measurement", columns, _cells(rows))


def counts_table(counts: Sequence[tuple[str, str, int, int]]) -> Table:
    """Return rows and positive decisions by group and label; few people are not told apart."""
    rows = [
        [name, label, f"{n:,}" if n >= FEWEST else f"under {FEWEST}",
         f"{x:,}" if n >= FEWEST else "–"]
        for name, label, n, x in counts
    ]  # fmt: skip
    return Table("Counts", ("group", "label", "people", "selected"), _cells(rows))


def _cells(rows: Sequence[Sequence[str]]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(tuple(Cell(text) for text in row) for row in rows)


def _four(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.4f}"
