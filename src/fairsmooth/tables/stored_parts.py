"""A stored table cut in two: the same model as of the table in memory, a column at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth._types import Labels
from fairsmooth.core.rows import CodedRows
from fairsmooth.data.banding import parse_bands
from fairsmooth.data.columns.learning import Learned, finite_numbers
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.frames import ColumnDigest
from fairsmooth.data.groups import encode_groups
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
    """

    X: CodedRows
    y: Labels
    sensitive: pd.DataFrame
    places: NDArray[np.intp]
    encoder: TableEncoder
    roles: Roles
    provenance: Provenance
    test: AuditedRows

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
        split = Split.of(about, roles, test_size=test_size, seed=seed, strict=strict)
        # One text per group and column, not one per row.
        split = replace(split, groups=split.groups.astype("category"))
        study = _Study.of(table, about, split, numeric=NUMERIC[columns])
        ids = table.frame(list(dict.fromkeys(roles.ids)))
        provenance = split.provenance(
            digest=study.digest,
            notes=(*study.notes, *study.encoder.notes),
            ids=ids[split.usable].iloc[split.train],
        )
        groups = encode_groups(split.groups.iloc[split.train], n_rows=len(split.train))
        order = np.argsort(groups.codes, kind="stable")
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        held = split.train[order]
        # Rare categories may be in the rows held out only: they set no indicator.
        codes = StoredCodes.of(
            table,
            study.encoder.with_unknown("ignore"),
            _all_places(split, places),
            done=done,
        )
        X = codes.rows(0, len(held))
        test = _audited(codes, split, len(held))
        sensitive = split.groups.iloc[held]
        return cls(
            X, split.y[held], sensitive, places, study.encoder, split.roles, provenance, test
        )

    def fitted(
        self, classifier: FairSmoothClassifier, began: float, *, shift: bool = False
    ) -> Fitted:
        """Put the model together and audit it on the rows kept for that."""
        model = TableModel(classifier, self.encoder, self.roles, self.provenance)
        beside = comparable(self.X, self.y, self.places)
        how: dict[str, Any] = {"began": began, "shift": shift, "beside": beside}
        return Fitted.of(model, self.test, test=None, **how)


def _all_places(split: Split, places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the place of every row of the table: training rows, then the others; -1 for none."""
    among = np.empty(len(split.y), dtype=np.intp)
    among[split.train] = places
    among[split.test] = len(places) + np.arange(len(split.test))
    whole = np.full(len(split.usable), -1, dtype=np.intp)
    whole[split.usable] = among
    return whole


def _audited(codes: StoredCodes, split: Split, first: int) -> AuditedRows:
    """Return the rows held out that can be scored, with a note on the others."""
    last = first + len(split.test)
    everyone = np.ones(len(split.test), dtype=bool)
    lines = codes.lines(first, last)
    scored, notes = scoring.scorable_rows(lines, among=everyone, strict=False)
    kept: Any = slice(None) if scored.all() else scored
    rows = codes.rows(first, last)
    sensitive = split.groups.iloc[split.test]
    return AuditedRows(rows.take(kept), split.y[split.test][kept], sensitive[kept], tuple(notes))


@dataclass(frozen=True, eq=False)
class _Study:
    """What is learned from a table's columns, each read once, in their order."""

    encoder: TableEncoder
    digest: str
    notes: tuple[str, ...]

    @classmethod
    def of(cls, table: StoredTable, about: pd.DataFrame, split: Split, *, numeric: str) -> "_Study":
        roles, sha = split.roles, ColumnDigest(len(table))
        rows = about[split.usable]
        skipped = set(not_features(table, roles))
        settings = TableEncoder((), numeric=numeric, unknown=roles.unknown)
        found = _Found(rows, split)
        learned: list[Learned] = []
        for name in table.columns:
            column = about[name] if name in about else table[name]
            sha.update(name, column)
            if name not in skipped:
                learned.append(found.learn(name, column[split.usable], settings))
        notes = (*role_notes(rows, roles), *found.in_order())
        return cls(settings.with_columns(learned), sha.hexdigest(), notes)


@dataclass(eq=False)
class _Found:
    """Notes on features, kept by what they are about, in the order of a table in memory."""

    rows: pd.DataFrame
    split: Split
    notes: dict[str, list[str]] = field(default_factory=dict)

    def learn(self, name: str, column: pd.Series, settings: TableEncoder) -> Learned:
        """Look at a feature, refuse infinite numbers in either part, and learn its rules."""
        beside = {**{str(other): self.rows[other] for other in self.rows}, name: column}
        self._note("identifier", identifier(name, column))
        if isinstance(column.dtype, pd.CategoricalDtype):
            texts = normal_codes(name, column)[1]
            self._note("numbers", mostly_number_texts(name, texts) if texts else [])
        self._note("copies", copies(name, beside, self.split.roles))  # type: ignore[arg-type]
        api = pd.api.types
        if api.is_numeric_dtype(column.dtype) and not api.is_bool_dtype(column.dtype):
            finite_numbers(name, column)
        return settings.learn_column(name, column.iloc[self.split.train])

    def in_order(self) -> Iterator[str]:
        """Yield the notes as :func:`fairsmooth.data.notes.sanity_notes` orders them."""
        for about in ("identifier", "numbers", "copies"):
            yield from self.notes.get(about, [])

    def _note(self, about: str, notes: Sequence[str]) -> None:
        self.notes.setdefault(about, []).extend(notes)
