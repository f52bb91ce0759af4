"""What ``fairsmooth audit`` prints."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from fairsmooth.cli.gate import Measured
from fairsmooth.cli.output import (
    print_certificate,
    print_lines,
    print_statements,
    print_summary,
    results,
)

if TYPE_CHECKING:
    from fairsmooth.metrics import Audit, BiasAudit
    from fairsmooth.tables import TableModel


def print_audited(
    model: "TableModel | None",
    provenance: dict[str, Any],
    audit: "Audit",
    standard: "BiasAudit | None",
) -> None:
    """Print where the decisions came from, what is certified, what was measured."""
    if model is None:
        print_lines(_system_lines(provenance))
    else:
        assert model.provenance is not None  # or there would have been nothing to audit
        print_lines(model.provenance.lines())
        print_certificate(model.certificate)
    print_summary(audit.summary(), more=True)
    print_statements(audit.statements)
    if standard is not None:
        print_standard(standard)


def print_standard(audit: "BiasAudit") -> None:
    """Print the table of Local Law 144 with its notes."""
    title = f"Bias audit as New York City's Local Law 144 asks for it, {audit.n_rows:,} people"
    table = Table(title=title, title_justify="left")
    frame = audit.to_frame()
    for name in frame:
        table.add_column(str(name), justify="left" if name in frame.columns[:2] else "right")
    for row in audit.rows:
        ratio = "left out" if row.impact_ratio is None else f"{row.impact_ratio:.3f}"
        counts = (f"{row.applicants:,}", f"{row.chosen:,}", f"{row.rate:.4f}", ratio)
        table.add_row(Text(row.attribute), Text(row.category), *counts)
    results.print(table)
    print_lines(f"  {note}" for note in audit.notes())


def limits_dict(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return limits beside what was measured, as plain data; none of it is guaranteed."""
    return [
        {"name": one.name, "limit": one.limit, "measured": one.value, "holds": one.holds}
        for one in measured
    ]


def _system_lines(provenance: dict[str, Any]) -> list[str]:
    column, threshold = provenance["scores"], provenance["threshold"]
    if threshold is None:
        how = f"selected where it is {provenance['selected']!r}"
    else:
        how = f"selected where it exceeds {threshold:g}"
    groups = ", ".join(provenance["sensitive"])
    return [f"Column {column!r} is what the system put out: {how}.", f"Groups: {groups}."]
