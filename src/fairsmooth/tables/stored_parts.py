"""A stored table cut in two: the same model as of the table in memory, a column at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth._types import Labels
from fairsmooth.core.rows import CodedRows
from fairsmooth.data.banding import parse_bands
from fairsmooth.data.columns.learning import Learned, finite_numbers
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.files.code_file import CodeFile
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.frames import ColumnDigest
from fairsmooth.data.notes import copies, identifier, mostly_number_texts, role_notes
from fairsmooth.data.roles import Roles, not_features, require_columns
from fairsmooth.data.values import normal_codes
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.tables import scoring
from fairsmooth.tables.auditing import AuditedRows
from fairsmooth.tables.columns import NUMERIC
from fairsmooth.tables.comparison import comparable
from fairsmooth.tables.fitted import Fitted
from fairsmooth.tables.model import TableModel
from fairsmooth.tables.provenance import Provenance
from fairsmooth.tables.split import Split
from fairsmooth.tables.stored_coding import Done, StoredCodes
from fairsmooth.tables.stored_split import Numbers, all_places, by_group, compact, groups_of


@dataclass(frozen=True, eq=False)
class StoredParts:
    """Training rows sorted by group, and rows kept for the audit, all coded in a file.

    Attributes
    ----------
    X : CodedRows
        Training rows, mapped.
    y, sensitive
        Their labels and groups.
    places : ndarray of int
        Where the training rows, in the order of the table, are among them.
    encoder, roles, provenance
        As of a table in memory.
    test : AuditedRows
        The others, in the order of the table.
    codes : CodeFile
        What holds them all.
    """

    X: CodedRows
    y: Labels
    sensitive: pd.DataFrame
    places: Numbers
    encoder: TableEncoder
    roles: Roles
    provenance: Provenance
    test: AuditedRows
    codes: CodeFile = field(repr=False)

    @classmethod
    def of(
        cls,
        table: StoredTable,
        roles: Roles,
        *,
        columns: str = "auto",
        test_size: float,
        seed: int,
        strict: bool = False,
        done: Done = lambda rows: None,
    ) -> "StoredParts":
        """Cut a table by group and label; learn its columns; code its rows."""
        require_columns(table, roles)
        names, _ = parse_bands(roles.sensitive, table.columns)
        about = table.frame(list(dict.fromkeys([roles.label, *names])))
        split = compact(Split.of(about, roles, test_size=test_size, seed=seed, strict=strict))
        study = _Study.of(table, about, split, numeric=NUMERIC[columns])
        del about
        ids = table.frame(list(dict.fromkeys(roles.ids)))
        provenance = split.provenance(
            digest=study.digest,
            notes=(*study.notes, *study.encoder.notes),
            ids=ids[split.usable].iloc[split.train] if roles.ids else ids,
        )
        places, held = by_group(split)
        # Rare categories may be in the rows held out only: they set no indicator.
        codes = StoredCodes.of(
            table,
            study.encoder.with_unknown("ignore"),
            all_places(split, places),
            done=done,
        )
        return cls(
            codes.rows(0, len(held)), split.y[held].astype(np.int64), groups_of(split, held),
            places, study.encoder, split.roles, provenance, _audited(codes, split, len(held)),
            codes.file,
        )  # fmt: skip

    def audited_beside(self) -> "AuditedParts":
        """Return what the audit needs; nothing of it is as long as the training rows."""
        beside = comparable(self.X, self.y, self.places)
        self.codes.release()
        return AuditedParts(self.encoder, self.roles, self.provenance, self.test, beside)


@dataclass(frozen=True, eq=False)
class AuditedParts:
    """The rows kept for the audit, beside what a model of the others is put together from."""

    encoder: TableEncoder
    roles: Roles
    provenance: Provenance
    test: AuditedRows
    beside: tuple[Any, Labels, str]

    def fitted(
        self, classifier: FairSmoothClassifier, began: float, *, shift: bool = False
    ) -> Fitted:
        """Put the model together and audit it on the rows kept for that."""
        model = TableModel(classifier, self.encoder, self.roles, self.provenance)
        how: dict[str, Any] = {"began": began, "shift": shift, "beside": self.beside}
        return Fitted.of(model, self.test, test=None, **how)


def _audited(codes: StoredCodes, split: Split, first: int) -> AuditedRows:
    """Return the rows held out that can be scored, with a note on the others."""
    last = first + len(split.test)
    everyone = np.ones(len(split.test), dtype=bool)
    lines = codes.lines(first, last)
    scored, notes = scoring.scorable_rows(lines, among=everyone, strict=False)
    kept: Any = slice(None) if scored.all() else scored
    rows = codes.rows(first, last)
    y, sensitive = split.y[split.test].astype(np.int64), groups_of(split, split.test)
    return AuditedRows(rows.take(kept), y[kept], sensitive[kept], tuple(notes))


@dataclass(frozen=True, eq=False)
class _Study:
    """What is learned from a table's columns, each read once, in their order."""

    encoder: TableEncoder
    digest: str
    notes: tuple[str, ...]

    @classmethod
    def of(cls, table: StoredTable, about: pd.DataFrame, split: Split, *, numeric: str) -> "_Study":
        roles, sha = split.roles, ColumnDigest(len(table))
        rows = _only(about, split)
        skipped = set(not_features(table, roles))
        settings = TableEncoder((), numeric=numeric, unknown=roles.unknown)
        found = _Found(rows, split)
        learned: list[Learned] = []
        for name in table.columns:
            column = about[name] if name in about else table[name]
            sha.update(name, column)
            if name not in skipped:
                learned.append(found.learn(name, _only(column, split), settings))
        notes = (*role_notes(rows, roles), *found.in_order())
        return cls(settings.with_columns(learned), sha.hexdigest(), notes)


def _only(part: Any, split: Split) -> Any:
    """Return the usable rows of a column or frame; itself if they all are."""
    return part if split.usable.all() else part[split.usable]


@dataclass(eq=False)
class _Found:
    """Notes on features, kept by what they are about, in the order of a table in memory."""

    rows: pd.DataFrame
    split: Split
    notes: dict[str, list[str]] = field(default_factory=dict)

    def learn(self, name: str, column: pd.Series, settings: TableEncoder) -> Learned:
        """Look at a feature, refuse infinite numbers in either part, and learn its rules."""
        api = pd.api.types
        if api.is_numeric_dtype(column.dtype) and not api.is_bool_dtype(column.dtype):
            finite_numbers(name, column)
        # First, for it refuses what no rule can use, such as lists, and notes cannot compare.
        learned = settings.learn_column(name, column.iloc[self.split.train])
        beside = {**{str(other): self.rows[other] for other in self.rows}, name: column}
        self._note("identifier", identifier(name, column))
        if isinstance(column.dtype, pd.CategoricalDtype):
            texts = normal_codes(name, column)[1]
            self._note("numbers", mostly_number_texts(name, texts) if texts else [])
        self._note("copies", copies(name, beside, self.split.roles))  # type: ignore[arg-type]
        return learned

    def in_order(self) -> Iterator[str]:
        """Yield the notes as :func:`fairsmooth.data.notes.sanity_notes` orders them."""
        for about in ("identifier", "numbers", "copies"):
            yield from self.notes.get(about, [])

    def _note(self, about: str, notes: Sequence[str]) -> None:
        self.notes.setdefault(about, []).extend(notes)
