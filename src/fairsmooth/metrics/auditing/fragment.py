"""An audit as a small piece of HTML, for notebooks."""

import math
from html import escape
from typing import TYPE_CHECKING

from fairsmooth.core.labels import group_text

if TYPE_CHECKING:
    from fairsmooth.metrics.auditing.result import Audit

_RATES = {
    "selection_rate": "selected",
    "impact_ratio": "impact ratio",
    "true_positive_rate": "of the positive",
    "false_positive_rate": "of the negative",
    "accuracy": "decided rightly",
}


def in_html(audit: "Audit") -> str:
    """Return rates by group with their intervals, and the sentences below them."""
    shown = [m for m in _RATES if any(audit.find(m, group) for group in audit.groups)]
    head = "".join(f"<th>{name}</th>" for name in ("group", "people", *(_RATES[m] for m in shown)))
    rows = "".join(_row(audit, group, shown) for group in audit.groups)
    text = "".join(f"<li>{escape(statement.text)}</li>" for statement in audit.statements)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<div><p>Audit of {audit.n_rows:,} rows.</p>{table}<ul>{text}</ul></div>"


def _row(audit: "Audit", group: object, metrics: list[str]) -> str:
    count = audit.find("selection_rate", group)
    people = 0 if count is None else count.count
    cells = "".join(f"<td>{_cell(audit, metric, group)}</td>" for metric in metrics)
    return f"<tr><th>{escape(group_text(group))}</th><td>{people:,}</td>{cells}</tr>"


def _cell(audit: "Audit", metric: str, group: object) -> str:
    record = audit.find(metric, group)
    if record is None or math.isnan(record.value):
        return "–"
    ends = "" if record.low is None else f" ({record.low:.3f} to {record.high:.3f})"
    return f"{record.value:.3f}{ends}"
