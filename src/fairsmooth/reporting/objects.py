"""Pages of single objects, for those who work in Python."""

from pathlib import Path

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
    subject = Subject(rows="rows: a certificate needs none")
    return _written(
        Report("Fairness certificate", subject, certificate=certificate).to_html(), path
    )


def guarantee_page(guarantee: GapGuarantee, path: Target = None) -> str:
    """Return the page of a gap guarantee, from its counts."""
    return _written(guarantee_report("Gap guarantee", guarantee).to_html(), path)


def guarantee_report(title: str, guarantee: GapGuarantee, subject: Subject | None = None) -> Report:
    """Return the report of a gap guarantee, with what it says of itself."""
    if subject is None:
        facts = guarantee.provenance
        threshold = facts.get("threshold")
        subject = Subject(
            column=facts.get("column"),
            positive=facts.get("positive"),
            sensitive=tuple(map(str, facts.get("sensitive") or ())),
            threshold=threshold if isinstance(threshold, float) else None,
            rows="safety rows",
            n_rows=sum(c.rows for c in guarantee.counts or () if c.label is None),
            model_digest=facts.get("model"),
            table_digest=facts.get("table"),
        )
    return Report(title, subject, guarantee=guarantee)


def _written(page: str, path: Target) -> str:
    if path is not None:
        _atomic.write_bytes(path, page.encode())
    return page
