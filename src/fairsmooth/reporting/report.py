"""The report: one self-contained page, no script, nothing loaded from elsewhere."""

from typing import Any

from jinja2 import Undefined
from markupsafe import Markup

import fairsmooth
from fairsmooth.core.certificate import Certificate
from fairsmooth.core.labels import group_text
from fairsmooth.core.outward import upper_text
from fairsmooth.metrics import Audit, BiasAudit
from fairsmooth.reporting import figures
from fairsmooth.reporting.page import render
from fairsmooth.tables.provenance import Provenance

_RATES = {
    "selection_rate": "Selection rate",
    "true_positive_rate": "True positive rate",
    "false_positive_rate": "False positive rate",
}
_SHIFT_GAPS = {
    "expected_demographic_parity": "Gap of expected selection rates, as the population shifts",
    "expected_equalized_odds_sum": "Sum of the gaps of expected TPR and FPR, as it shifts",
}


def render_report(
    title: str,
    certificate: Certificate | None,
    audit: Audit,
    *,
    provenance: Provenance | None = None,
    held_out: bool = False,
    standard: BiasAudit | None = None,
) -> str:
    """Return an audit, and the certificate if there is one, as one HTML page.

    Parameters
    ----------
    title : str
    certificate : Certificate or None
        None for a model that has none; the page then says so.
    audit : Audit
    provenance : Provenance, optional
        Where the model came from; printed if it is known.
    held_out : bool
        Whether training is known not to have seen the audited rows.
    standard : BiasAudit, optional
        The table that a standard asks for.
    """
    context = {
        "title": title,
        "version": fairsmooth.__version__,
        "certificate": certificate,
        "certificate_lines": [] if certificate is None else str(certificate).splitlines(),
        "provenance": provenance,
        "rows": "held-out rows" if held_out else "audited rows",
        "summary": audit.summary(),
        "audit": audit,
        "standard": standard,
        "figures": _figures(audit),
        "shift_figures": _shift_figures(audit),
    }
    return render("report.html", context, {"number": _number, "bound": _bound, "group": _group})


def _figures(audit: Audit) -> list[Markup]:
    drawn = []
    for metric, title in _RATES.items():
        records = [(group, audit.find(metric, group)) for group in audit.groups]
        known = [(g, r) for g, r in records if r is not None and r.low is not None]
        if not known:
            continue
        figure = figures.intervals(
            [group_text(group) for group, _ in known],
            [record.value for _, record in known],
            [record.low or 0.0 for _, record in known],
            [record.high or 0.0 for _, record in known],
            title=f"{title}, with {audit.confidence:.0%} intervals",
        )
        drawn.append(Markup(figures.as_svg(figure)))
    return drawn


def _shift_figures(audit: Audit) -> list[Markup]:
    if audit.shift is None:
        return []
    points = audit.shift.to_frame()
    drawn = []
    for metric, title in _SHIFT_GAPS.items():
        chosen = points[(points["metric"] == metric) & ~points["curve"].str.startswith("group_mix")]
        chosen = chosen[~chosen["curve"].str.endswith("_smallest")]
        curves = {
            str(name).replace("_", " "): part for name, part in chosen.groupby("curve", sort=False)
        }
        drawn.append(Markup(figures.as_svg(figures.shift_panels(curves, title=title))))
    return drawn


def _number(value: Any) -> str:
    if value is None or isinstance(value, Undefined):
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _bound(value: Any) -> str:
    """Print a bound rounded up, so that what is printed is a bound too."""
    return upper_text(value) if isinstance(value, int | float) else "–"


def _group(label: Any) -> str:
    return group_text(tuple(label) if isinstance(label, list) else label)
