"""The report: one self-contained page that opens with words and lets nothing in from elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from fairsmooth.core.certificate import Certificate
from fairsmooth.guarantees import GapGuarantee
from fairsmooth.metrics import Audit, BiasAudit
from fairsmooth.reporting import by_group
from fairsmooth.reporting.charts.bundle import EXTRA, available, bundle
from fairsmooth.reporting.explored import curve_data, threshold_data
from fairsmooth.reporting.first_screen import FirstScreen
from fairsmooth.reporting.guaranteed import claims_table, counts_of
from fairsmooth.reporting.page import render, scripted, source
from fairsmooth.reporting.picture import Picture
from fairsmooth.reporting.repeating import commands
from fairsmooth.reporting.selection import Selection
from fairsmooth.reporting.shift_grid import shift_grids
from fairsmooth.reporting.subject import Subject
from fairsmooth.reporting.wording import sure
from fairsmooth.tables.provenance import Provenance

if TYPE_CHECKING:
    from fairsmooth.tuning.front import ParetoFront

PLAIN = "plain logistic regression"
# With more groups than this, paper has room for the tables and not for the charts.
MANY = 12


@dataclass(frozen=True)
class Report:
    """Everything that a page may be made of; what is None is left out.

    Attributes
    ----------
    title : str
    subject : Subject
        What was looked at.
    audit : Audit, optional
        What was measured.
    certificate : Certificate, optional
        What is certified of the scores.
    guarantee : GapGuarantee, optional
        What is guaranteed of the gaps.
    beside : mapping of str to Audit
        Audits of other models on the same rows.
    standard : BiasAudit, optional
        The table that a standard asks for.
    history : sequence
        Steps of the training.
    front : ParetoFront, optional
        What a search found.
    notes : sequence of str
        What was noticed, one line each.
    preface : Markup
        What to put below the first screen, as HTML.
    interactive : bool
        Whether charts may be drawn by a script; otherwise they are still.
    """

    title: str
    subject: Subject
    audit: Audit | None = None
    certificate: Certificate | None = None
    guarantee: GapGuarantee | None = None
    beside: Mapping[str, Audit] | None = None
    standard: BiasAudit | None = None
    history: Sequence[Any] = ()
    front: "ParetoFront | None" = None
    notes: Sequence[str] = ()
    preface: Markup = Markup()  # noqa: RUF009 - never changed
    interactive: bool = True

    def selection(self) -> Selection | None:
        """Return who is selected how often, by the audit or by the guarantee's counts."""
        if self.audit is not None:
            return Selection.of_audit(self.audit, self.beside)
        return None if self.guarantee is None else Selection.of_guarantee(self.guarantee)

    def explored(self) -> dict[str, Any]:
        """Return what the explorers of the page hold."""
        found: dict[str, Any] = {}
        if self.audit is not None:
            found |= {"threshold": threshold_data(self.audit), "curves": curve_data(self.audit)}
        if self.guarantee is not None:
            found["shift"] = shift_grids(self.guarantee)
        return found

    def to_html(self) -> str:
        """Return the page."""
        selection = self.selection()
        confidence = None if selection is None else selection.confidence
        screen = FirstScreen.of(selection, self.certificate, self.guarantee, self.subject)
        scripts = self.interactive and available()
        drawn = self._interactive() if scripts else self._still()
        context = {
            "title": self.title,
            "subject": self.subject,
            "commands": commands(self.subject),
            "screen": screen,
            "picture": None if selection is None else Picture.of(selection),
            "confidence": "" if confidence is None else sure(confidence),
            "many": selection is not None and len(selection.groups) > MANY,
            "report": self,
            "audit": self.audit,
            "tables": self._tables(),
            "lines": {
                "certificate": []
                if self.certificate is None
                else str(self.certificate).split("\n"),
                "guarantee": [] if self.guarantee is None else str(self.guarantee).split("\n"),
            },
            "still": "" if scripts else EXTRA,
            **drawn,
        }
        return render("report.html", context)

    def _tables(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.audit is not None:
            found["rates"] = by_group.rates_table(self.audit)
            found["scores"] = by_group.scores_table(self.audit)
            found["records"] = by_group.every_record(self.audit)
        if self.guarantee is not None and self.guarantee.counts is not None:
            found["claims"] = claims_table(self.guarantee)
            found["counts"] = by_group.counts_table(counts_of(self.guarantee))
        return found

    def _interactive(self) -> dict[str, Any]:
        # Needs the extra, so it is loaded here.
        from fairsmooth.reporting import drawn
        from fairsmooth.reporting.fronts import front_charts

        explored = self.explored()
        parts: dict[str, Any] = {"explorers": drawn.explorer_charts(explored), "front": []}
        if self.audit is not None:
            beside = (self.beside or {}).get(PLAIN)
            score = drawn.score_chart(self.audit)
            parts |= {
                "rates": drawn.rate_charts(self.audit, beside),
                "scores": [] if score is None else [score],
                "labels": drawn.label_charts(self.audit),
                "model": list(drawn.model_charts(self.audit, tuple(self.history))),
            }
        if self.front is not None:
            parts["front"] = front_charts(self.front)
        specs = {chart.name: chart.spec for charts in parts.values() for chart in charts}
        if not specs:
            return {**scripted([], {}), "explored": {}, "charts": parts}
        data = {**{key: value for key, value in explored.items() if value}, "charts": specs}
        return {
            **scripted([bundle(), source("report.js")], data),
            "explored": explored,
            "charts": parts,
        }

    def _still(self) -> dict[str, Any]:
        from fairsmooth.reporting import still

        charts = {"rates": [] if self.audit is None else still.rate_figures(self.audit)}
        if self.audit is not None and self.audit.shift is not None:
            charts["curves"] = still.shift_figures(self.audit)
        return {**scripted([], {}), "explored": {}, "charts": charts}


def render_report(
    title: str,
    certificate: Certificate | None,
    audit: Audit,
    *,
    provenance: Provenance | None = None,
    held_out: bool = False,
    subject: Subject | None = None,
    **more: Any,
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
    subject : Subject, optional
        Digests, files and what ``verify`` found; provenance, rows and threshold are filled in.
    more
        As in :class:`Report`: ``guarantee``, ``beside``, ``standard``, ``history``, ``front``,
        ``notes``, ``preface``.
    """
    about = replace(
        subject or Subject(),
        provenance=provenance if subject is None else subject.provenance or provenance,
        n_rows=audit.n_rows,
        threshold=audit.threshold,
    )
    if subject is None:
        about = replace(about, rows="held-out rows" if held_out else "audited rows")
    return Report(title, about, audit, certificate, **more).to_html()
