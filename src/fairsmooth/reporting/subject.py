"""What a page is about, beyond its numbers: columns, rows, files, checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import fairsmooth
from fairsmooth.reporting.wording import listed
from fairsmooth.tables.provenance import Provenance, today


class Checked(Protocol):
    """One line of a verification, as ``fairsmooth.verify`` gives it."""

    @property
    def name(self) -> str:
        """What was checked."""

    @property
    def holds(self) -> bool:
        """Whether it was found to hold, or is taken on trust."""

    @property
    def checked(self) -> bool:
        """Whether anything was proved."""

    @property
    def detail(self) -> str:
        """Why, in one line."""


@dataclass(frozen=True)
class Subject:
    """What the reader needs to know what was looked at, and to look again.

    Attributes
    ----------
    provenance : Provenance, optional
        Where the model came from.
    column : str, optional
        Without a model: the column that holds scores or decisions.
    label : str, optional
        Without a model: the column that holds the labels.
    named_positive : object, optional
        Without a model: the positive value, if it was named.
    positive : object, optional
        Without a model: the value of the column of decisions which means selected.
    sensitive : sequence of str
        Without a model: the sensitive columns.
    threshold : float, optional
        A score above it is selected.
    rows : str
        What kind of rows these are: "held-out rows", "safety rows", "audited rows".
    n_rows : int or None
        How many; None where that is withheld, or there are none.
    model_digest, table_digest : str, optional
        SHA-256 of the model and of the table of these rows.
    model_file, table_file, guarantee_file : str
        Names for the commands of the page.
    table_words : str
        What ``table_file`` stands for where it is the name of no file.
    guarantee_inside : bool
        Whether the model file holds its guarantee.
    checks : sequence of Checked, optional
        What ``fairsmooth verify`` found; None if it was not run.
    date : str
        Of the page; today if left out.
    """

    provenance: Provenance | None = None
    column: str | None = None
    label: str | None = None
    named_positive: object = None
    positive: object = None
    sensitive: Sequence[str] = ()
    threshold: float | None = None
    rows: str = "audited rows"
    n_rows: int | None = None
    model_digest: str | None = None
    table_digest: str | None = None
    model_file: str = "MODEL"
    table_file: str = "DATA"
    table_words: str = ""
    guarantee_file: str = "GUARANTEE.json"
    guarantee_inside: bool = False
    checks: Sequence[Checked] | None = None
    date: str = ""

    @property
    def of_a_column(self) -> bool:
        """Whether the decisions are a column's, and there is no model."""
        return self.provenance is None and self.column is not None

    @property
    def selected(self) -> str:
        """What it means to be selected, in words."""
        if self.provenance is not None:
            known = self.provenance
            return f"{known.label} = {known.positive} is predicted"
        if self.column is None:
            return "the decision is positive"
        if self.threshold is None and self.positive is not None:
            return f"column {self.column} is {self.positive}"
        if self.threshold is None:
            return f"column {self.column} says so"
        return f"column {self.column} exceeds {self.threshold:g}"

    @property
    def groups(self) -> str:
        """The sensitive columns, in words."""
        names = self.sensitive if self.provenance is None else self.provenance.sensitive
        return listed(list(map(str, names))) if names else ""

    @property
    def verdict(self) -> str:
        """The outcome of ``fairsmooth verify``, in a word or two."""
        if self.checks is None:
            return "not run"
        if any(check.checked and not check.holds for check in self.checks):
            return "NOT confirmed"
        undecided = any(not check.holds for check in self.checks)
        return "needs the safety rows" if undecided else "confirmed"

    def facts(self) -> list[tuple[str, str]]:
        """Return what stands in small print on the first screen."""
        known = self.provenance
        pairs = [("A person is selected where", self.selected)]
        if self.threshold is not None and not self.of_a_column:
            pairs.append(("that is, where the score exceeds", f"{self.threshold:g}"))
        pairs.append(("Sensitive columns", self.groups + _also_features(known)))
        if self.n_rows is not None:
            pairs.append(("Rows looked at", f"{self.n_rows:,} {self.rows}"))
        if known is not None and known.rows:
            pairs.append(("Rows trained on", f"{known.rows:,}{_when(known)}"))
        pairs.append(("SHA-256 of the model", self.model_digest or ""))
        pairs.append(("SHA-256 of these rows", self.table_digest or ""))
        if known is not None and known.digest != self.table_digest:
            pairs.append(("SHA-256 of the training table", known.digest or ""))
        pairs.append(("fairsmooth verify", self.verdict))
        pairs.append(
            ("Page made", f"{self.date or today()} by fairsmooth {fairsmooth.__version__}")
        )
        return [(name, value) for name, value in pairs if value]


def _also_features(known: Provenance | None) -> str:
    return " (also features)" if known is not None and known.include_sensitive else ""


def _when(known: Provenance) -> str:
    return f", {known.date}" if known.date else ""
