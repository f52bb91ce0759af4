"""The report that commands write: what is known of model and rows, put on one page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairsmooth.metrics import Audit
    from fairsmooth.reporting.subject import Subject
    from fairsmooth.tables import TableModel
    from fairsmooth.tables.auditing import AuditedRows
    from fairsmooth.tables.fitting import Fitted
    from fairsmooth.verify import Check


@dataclass(frozen=True)
class ModelPage:
    """A model in a file, and the rows that it was judged on.

    Attributes
    ----------
    model : TableModel
    path : Path
        Its file.
    audit : Audit
    rows : AuditedRows or None
        The rows, for a plain regression beside the model; None where they are not at hand.
    digest : str or None
        Of the table that they are from.
    table_file : str
        Where they are, for the commands of the page.
    table_words : str
        What that name stands for, where it is no file's.
    kind : str
        What kind of rows they are, such as "held-out rows".
    checks : tuple of Check or None
        What ``verify`` found of the file; it is verified if this is left out.
    """

    model: "TableModel"
    path: Path
    audit: "Audit"
    rows: "AuditedRows | None"
    digest: str | None
    table_file: str = "DATA"
    table_words: str = ""
    kind: str = "audited rows"
    checks: "tuple[Check, ...] | None" = None

    @classmethod
    def of_fitted(
        cls, fitted: "Fitted", path: Path, *, table_file: str = "DATA", table_words: str = ""
    ) -> "ModelPage":
        """Take a model with the rows that its training has not seen."""
        from fairsmooth.data.frames import table_digest

        kind = "held-out rows" if fitted.model.guarantee is None else "safety rows"
        rows, digest = None, None
        if fitted.test is not None:
            rows = fitted.model.audited(fitted.test, unknown="ignore")
            digest = table_digest(fitted.test)
        where = (table_file, table_words, kind)
        return cls(fitted.model, path, fitted.audit, rows, digest, *where)

    def render(
        self, title: str, *, beside: "Mapping[str, Audit] | None" = None, **more: Any
    ) -> str:
        """Return the page, with a plain logistic regression beside the model."""
        from fairsmooth.reporting.report import PLAIN, render_report
        from fairsmooth.tables.plain import plain_audit

        plain = None if self.rows is None else plain_audit(self.rows)
        others = {**({} if plain is None else {PLAIN: plain}), **(beside or {})}
        more = {"guarantee": self.model.guarantee, "history": self._history(), **more}
        return render_report(
            title,
            self.model.certificate,
            self.audit,
            subject=self._subject(),
            beside=others,
            **more,
        )

    def _history(self) -> tuple[Any, ...]:
        return tuple(getattr(self.model.classifier, "history_", ()))

    def _subject(self) -> "Subject":
        from fairsmooth.persistence import file_digest
        from fairsmooth.reporting.subject import Subject

        return Subject(
            provenance=self.model.provenance,
            rows=self.kind,
            model_digest=file_digest(self.path),
            table_digest=self.digest,
            model_file=self.path.name,
            table_file=self.table_file,
            table_words=self.table_words,
            guarantee_inside=self.model.guarantee is not None,
            checks=checks_of(self.path) if self.checks is None else self.checks,
        )


def system_subject(facts: Mapping[str, Any], table_file: str) -> "Subject":
    """Say what is known of a system that is a column of a table."""
    from fairsmooth.reporting.subject import Subject

    return Subject(
        column=facts["scores"],
        label=facts["label"],
        named_positive=facts["positive"],
        positive=facts["selected"],
        sensitive=tuple(facts["sensitive"]),
        threshold=facts["threshold"],
        table_digest=facts["digest"],
        table_file=table_file,
    )


def checks_of(
    model: Path | None, guarantee: Mapping[str, Any] | None = None
) -> "tuple[Check, ...]":
    """Verify a model file, and a guarantee: the one given, or the one that the file holds."""
    from fairsmooth.cli.confirming import confirm_guarantee
    from fairsmooth.persistence import read_contents
    from fairsmooth.verify import not_checked, verify

    checks: tuple[Check, ...] = ()
    if model is not None:
        found = verify(model)
        if not found.holds:
            return found.checks
        checks = found.checks
        guarantee = guarantee or read_contents(model).description.plain["guarantee"]
    if guarantee is None:
        return checks
    again = confirm_guarantee(dict(guarantee), model=model, data=None)
    trusted = (not_checked("taken on trust", what) for what in again.trusted)
    return (*checks, *again.checks, *trusted)


def require_report(report: Path | None, *, inputs: Sequence[Path], others: Sequence[Path]) -> None:
    """Refuse a report, if one is asked for, that would overwrite something else."""
    from fairsmooth.cli.targets import require_target

    if report is not None:
        require_target(report, inputs=list(inputs), others=list(others))


def write_training(
    report: Path | None, fitted: "Fitted", path: Path, data: str, notes: Sequence[str]
) -> None:
    """Write the page of a training, if one is asked for, about the rows it has not seen."""
    if report is not None:
        rows = f"the rows held out of {data}"
        about = ModelPage.of_fitted(fitted, path, table_words=rows)
        write_page(report, about.render(f"{path.name}, trained on {data}", notes=notes))


def write_page(path: Path, page: str) -> None:
    """Write a page, whole or not at all, and say so."""
    from fairsmooth._atomic import write_bytes
    from fairsmooth.cli.output import say

    write_bytes(path, page.encode())
    say(f"Wrote {path}.")
