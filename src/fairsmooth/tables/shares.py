"""A model of a table whose rows several ranks hold: the one that all rows in one place give."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._random import numpy_generator
from fairsmooth._types import Labels
from fairsmooth.core.ranks import Ranks
from fairsmooth.data.agreeing import (
    agree_on_groups,
    agree_on_labels,
    learn_encoder,
    require_trainable_together,
)
from fairsmooth.data.banding import parse_bands
from fairsmooth.data.columns.learning import finite_numbers
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.files.parquet import BATCH_ROWS
from fairsmooth.data.files.shares import SharedTable
from fairsmooth.data.groups import Groups
from fairsmooth.data.roles import (
    Roles,
    not_features,
    require_columns,
    sensitive_frame,
    usable_rows,
)
from fairsmooth.data.splits import hold_out
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.tables.columns import NUMERIC
from fairsmooth.tables.fitted import provenance_of
from fairsmooth.tables.fitting import Step
from fairsmooth.tables.model import TableModel
from fairsmooth.tables.provenance import Provenance
from fairsmooth.tables.scoring import refuse_reasons
from fairsmooth.tables.shared_audit import HeldOut, audit_counts, audit_gathered
from fairsmooth.tables.stored_coding import StoredCodes
from fairsmooth.training.example import Example

# Where rows may not leave a rank, so many categories of a column may be named to the others.
MOST_TEXTS = 1000
_LEFT_OUT = (
    "Trained by {} ranks. What looks at the whole table in one place was left out: its digest, "
    "ids of training rows, notes on copies, spellings and identifiers, and the comparison with a "
    "logistic regression."
)
_COUNTS_ALONE = (
    "The audit is one of counts: no score left its rank, so calibration, measured gaps to a "
    "group's own score and the cost of the tie are unknown. Every rank can audit its own rows."
)


@dataclass(frozen=True)
class Share:
    """Own rows that can be used, with labels and groups numbered as those of all ranks."""

    table: SharedTable | pd.DataFrame
    usable: NDArray[np.bool_]
    roles: Roles
    y: Labels
    values: tuple[str, str]
    groups: Groups
    notes: tuple[str, ...]
    ranks: Ranks

    @classmethod
    def of(
        cls, table: SharedTable | pd.DataFrame, roles: Roles, ranks: Ranks, *, strict: bool
    ) -> "Share":
        """Agree with the other ranks on labels and groups; a rank may have no row at all."""
        ranks.together(lambda: _check(table, roles))
        names = list(dict.fromkeys([roles.label, *roles.sensitive]))
        about = table[names] if isinstance(table, pd.DataFrame) else table.frame(names)
        usable, dropped = ranks.together(lambda: usable_rows(about, roles, strict=strict))
        rows = about[usable].reset_index(drop=True)
        y, values = agree_on_labels(rows[roles.label], roles, ranks)
        groups = agree_on_groups(ranks.together(lambda: sensitive_frame(rows, roles)), ranks)
        told = [(rank, note) for rank, own in enumerate(ranks.gather(dropped)) for note in own]
        notes = tuple(f"On rank {rank}, {note}" for rank, note in told)
        require_trainable_together(groups, y, ranks)
        return cls(table, usable, roles, y, values, groups, notes, ranks)

    def features(self, rows: NDArray[np.intp]) -> Iterator[tuple[str, pd.Series]]:
        """Yield the columns to predict from, some of their rows, one after another.

        Infinite numbers are refused in any row, as they are where one process has all of them.
        """
        skipped, api = not_features(self.table, self.roles), pd.api.types
        for name in self.table.columns:
            if name in skipped:
                continue
            column = self.table[name][self.usable]
            if api.is_numeric_dtype(column.dtype) and not api.is_bool_dtype(column.dtype):
                self.ranks.together(partial(finite_numbers, name, column))
            yield name, column.iloc[rows]

    def split(self, test_size: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Hold out the rows that one process would hold out."""
        permute = numpy_generator(seed, "split", "table").permutation
        cells = 2 * self.groups.codes + self.y
        train, test = hold_out(cells, test_size, permute=permute, ranks=self.ranks)
        if not self.ranks.sum([len(test)])[0]:
            raise InputError(f"Expected rows to hold out at test_size={test_size!r}, got none.")
        require_trainable_together(self._groups(train), self.y[train], self.ranks)
        return train, test

    def coded(
        self, encoder: TableEncoder, train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> tuple[Example, HeldOut]:
        """Code own rows into a file: training rows by group, then those held out.

        Of the latter, those that cannot be encoded are left out.
        """
        train = train[np.argsort(self.groups.codes[train], kind="stable")]
        among = np.empty(len(self.y), dtype=np.intp)
        among[np.concatenate([train, test])] = np.arange(len(self.y))
        places = np.full(len(self.usable), -1, dtype=np.intp)
        places[self.usable] = among
        own = self.table
        table: Any = _Chunks(own) if isinstance(own, pd.DataFrame) else own
        for name in encoder.columns:
            table.kind(name)  # ranks agree on it, and cannot within what each does alone
        codes = self.ranks.together(lambda: StoredCodes.of(table, encoder, places))
        refuse = partial(refuse_reasons, codes.lines(0, len(train)))
        self.ranks.together(refuse)
        X = codes.rows(0, len(train))
        learned = Example(X, self.y[train], self._groups(train), names=X.names, ranks=self.ranks)
        lines = codes.lines(len(train), len(self.y))
        scored = np.array([line is None for line in lines], dtype=bool)
        rows, kept = codes.rows(len(train), len(self.y)), test[scored]
        rows = rows if scored.all() else rows.take(scored)
        return learned, HeldOut(rows, self.y[kept], self._groups(kept), len(test) - len(kept))

    def _groups(self, rows: NDArray[np.intp]) -> Groups:
        return Groups(self.groups.labels, self.groups.codes[rows])


@dataclass(frozen=True)
class _Chunks:
    """A frame that is read a few rows at a time, as a stored table is."""

    frame: pd.DataFrame

    def kind(self, name: str) -> None:
        """Refuse a column that there is not; what it holds was decided when it was read."""
        _validate.known_column(name, list(self.frame.columns), where="the table")

    def chunks(self, names: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Yield some columns of all rows, in order."""
        for start in range(0, len(self.frame), BATCH_ROWS):
            yield self.frame[list(names)].iloc[start : start + BATCH_ROWS]


def fit_share(
    table: SharedTable | pd.DataFrame,
    roles: Roles,
    ranks: Ranks,
    *,
    classifier: FairSmoothClassifier,
    columns: str = "auto",
    encoder: TableEncoder | None = None,
    apart: bool = False,
    test_size: float = 0.3,
    seed: int = 0,
    strict: bool = False,
    step: Step = lambda text: None,
) -> TableModel:
    """Train one model on the rows of all ranks; every rank calls this and gets the same model.

    Equal to one process that has the rows of rank 0, then those of rank 1, and so on: split,
    encoder and steps are the same, parameters but for the order in which numbers are added.

    Parameters
    ----------
    table : SharedTable or DataFrame
        Own rows in normal form, as from :func:`fairsmooth.data.files.shares.read_share`.
    roles, classifier, columns, test_size, seed, strict, step
        As for :func:`fairsmooth.tables.fitting.fit_table`, the same on every rank.
    ranks : Ranks
        Who else there is.
    encoder : TableEncoder, optional
        What columns become, agreed on beforehand; learned from counts if left out.
    apart : bool
        Whether rows may not leave their rank. The audit then is that of counts by group, label
        and decision. Otherwise rank 0 gathers the held-out rows, encoded, and audits them; the
        model of the other ranks has no audit.
    """
    _validate.in_range(0.01, 0.99, test_size=test_size)
    step("agreeing on columns")
    share = Share.of(table, roles, ranks, strict=strict)
    train, test = share.split(test_size, seed)
    known = _encoder(share, train, columns, encoder, MOST_TEXTS if apart else None)
    # Rare categories may be in the rows held out only: they set no indicator.
    applied = known.with_unknown("ignore") if encoder is None else known
    example, held_out = share.coded(applied, train, test)
    step("training")
    classifier.fit_share(example)
    _require_same(classifier.group_parameters_.tobytes(), "parameters", ranks)
    step("auditing")
    audited = audit_counts if apart else audit_gathered
    audit = audited(classifier, held_out, roles.sensitive, ranks)
    notes = [_LEFT_OUT.format(ranks.size), *([_COUNTS_ALONE] if apart else []), *share.notes]
    (lost,) = ranks.sum([held_out.n_lost])
    if lost:
        notes.append(f"Of the rows held out, {int(lost)} cannot be scored and are left out.")
    provenance = _provenance(share, train, test, seed, test_size)
    told = replace(provenance, notes=(*notes, *known.notes))
    return TableModel(classifier, known, roles, told, measured=audit)


def _encoder(
    share: Share,
    train: NDArray[np.intp],
    columns: str,
    given: TableEncoder | None,
    most_texts: int | None,
) -> TableEncoder:
    unknown = share.roles.unknown
    if given is None:
        _validate.one_of(tuple(NUMERIC), columns=columns)
        return learn_encoder(
            share.features(train), share.ranks, numeric=NUMERIC[columns], unknown=unknown,
            most_texts=most_texts,
        )  # fmt: skip
    plain = json.dumps(given.to_dict(), sort_keys=True)
    _require_same(plain.encode(), "encoder", share.ranks)
    return given.with_unknown(unknown)


def _require_same(contents: bytes, what: str, ranks: Ranks) -> None:
    digests = ranks.gather(hashlib.sha256(contents).hexdigest())
    if len(set(digests)) > 1:
        raise InputError(
            f"Expected the same {what} on every rank, got {len(set(digests))} different ones. "
            "Use the same file, options and versions of the libraries everywhere."
        )


def _provenance(
    share: Share,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    seed: int,
    test_size: float,
) -> Provenance:
    n_train, n_test = (int(count) for count in share.ranks.sum([len(train), len(test)]))
    return provenance_of(
        share.roles, share.values, rows=n_train, held_out=n_test, seed=seed, test_size=test_size
    )


def _check(table: Any, roles: Roles) -> None:
    require_columns(table, roles)
    _, bands = parse_bands(roles.sensitive, list(table.columns))
    if bands:
        name, count = next(iter(bands.items()))
        raise InputError(
            f"Expected sensitive columns without bands with several ranks, got {name}:{count}. "
            "Add a column with the bands to the table."
        )
