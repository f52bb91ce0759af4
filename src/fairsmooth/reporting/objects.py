"""Pages of single objects, for those who work in Python."""

from pathlib import Path
from typing import Any

from fairsmooth import _atomic
from fairsmooth.core.certificate import Certificate
from fairsmooth.guarantees import GapGuarantee
from fairsmooth.metrics import Audit
from fairsmooth.reporting.report import Report, render_report
from fairsmooth.reporting.subject import Subject

Target = str | Path | None


def audit_page(audit: Audit, path: Target = None) -> str:
    """Return the page of an audit, and write it if a path is given."""
    return _written(render_report("Audit", audit.certificate, audit), path)


def certificate_page(certificate: Certificate, path: Target = None) -> str:
    """Return the page of a certificate alone."""
    report = Report("Fairness certificate", Subject(), certificate=certificate)
    return _written(report.to_html(), path)


def guarantee_page(guarantee: GapGuarantee, path: Target = None) -> str:
    """Return the page of a gap guarantee, from its counts."""
    report = Report("Gap guarantee", guarantee_subject(guarantee), guarantee=guarantee)
    return _written(report.to_html(), path)


def guarantee_subject(guarantee: GapGuarantee, **known: Any) -> Subject:
    """Return what a guarantee says of itself, and what else is ``known``."""
    facts = guarantee.provenance
    return Subject(
        column=facts.get("column"),
        positive=facts.get("selected"),
        sensitive=tuple(map(str, facts.get("sensitive") or ())),
        threshold=facts.get("threshold"),
        rows="safety rows",
        n_rows=_people(guarantee),
        model_digest=facts.get("model"),
        table_digest=facts.get("table"),
        **known,
    )


def _people(guarantee: GapGuarantee) -> int | None:
    """Return how many people were counted, once each; None where that is withheld."""
    if guarantee.counts is None:
        return None
    by_column: dict[object, int] = {}
    for cell in guarantee.counts:
        if cell.label is None:
            by_column[cell.column] = by_column.get(cell.column, 0) + cell.rows
    return max(by_column.values())


def _written(page: str, path: Target) -> str:
    if path is not None:
        _atomic.write_bytes(path, page.encode())
    return page
