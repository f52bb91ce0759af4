"""A table cut in two by its roles: label, groups, which rows can be used, which are held out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth._random import numpy_generator
from fairsmooth._types import Labels
from fairsmooth.data.banding import parse_bands, quantities
from fairsmooth.data.groups import encode_groups, require_counts, require_trainable
from fairsmooth.data.roles import (
    Roles,
    label_codes,
    sensitive_frame,
    usable_rows,
    with_bands,
)
from fairsmooth.data.splits import hold_out
from fairsmooth.exceptions import InputError
from fairsmooth.tables.fitted import provenance_of
from fairsmooth.tables.provenance import Provenance

MAX_SEED = 2**32 - 1


@dataclass(frozen=True, eq=False)
class Split:
    """What label and sensitive columns say of the rows of a table.

    Attributes
    ----------
    usable : ndarray of bool
        Which rows have a label and a group; what follows is about these.
    y : ndarray of int
        Labels, 0 or 1.
    groups : DataFrame
        Sensitive columns as normal texts.
    train, test : ndarray of int
        Row numbers among the usable ones, in increasing order.
    roles : Roles
        With bands learned from the training rows.
    values : (str, str)
        The two labels, the negative one first.
    dropped : tuple of str
        Notes on rows that cannot be used.
    seed, test_size
        Of the split.
    """

    usable: NDArray[np.bool_]
    y: Labels
    groups: pd.DataFrame
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    roles: Roles
    values: tuple[str, str]
    dropped: tuple[str, ...]
    seed: int
    test_size: float

    @classmethod
    def of(
        cls,
        table: pd.DataFrame,
        roles: Roles,
        *,
        test_size: float,
        seed: int,
        strict: bool = False,
        by_label: bool = True,
    ) -> "Split":
        """Split by group, and by label too unless ``by_label`` is false.

        ``table`` needs label and sensitive columns only.
        """
        _validate.in_range(0.01, 0.99, test_size=test_size)
        _validate.in_range(0, MAX_SEED, seed=seed)
        names, bands = parse_bands(roles.sensitive, list(table.columns))
        unbanded = replace(roles, sensitive=names)
        _require_one_role(unbanded)
        for name in bands:
            quantities(name, table[name])  # in all rows, whichever of them will be trained on
        usable, dropped = usable_rows(table, unbanded, strict=strict, quantities=tuple(bands))
        rows = table if usable.all() else table[usable]
        y, values = label_codes(rows[roles.label], roles)
        permute = numpy_generator(seed, "split", "table").permutation
        cells = _cells(rows, roles, y if by_label else None)
        train, test = hold_out(cells, test_size, permute=permute)
        roles = with_bands(roles, rows.iloc[train])
        groups = sensitive_frame(rows, roles)
        _require_trainable(groups, y, train, test, test_size)
        notes = tuple(dropped)
        return cls(usable, y, groups, train, test, roles, values, notes, seed, test_size)

    def provenance(self, *, digest: str, notes: Sequence[str], ids: pd.DataFrame) -> Provenance:
        """Return where a model of this split comes from."""
        return provenance_of(
            self.roles,
            self.values,
            rows=len(self.train),
            held_out=len(self.test),
            seed=self.seed,
            test_size=self.test_size,
            digest=digest,
            notes=(*self.dropped, *notes),
            ids=ids,
        )


def _cells(rows: pd.DataFrame, roles: Roles, y: Labels | None) -> Labels:
    """Number the cells of the split: groups, times labels if given.

    Columns that are cut into bands take no part: the bands are learned from the
    training rows, which are not chosen yet.
    """
    names, bands = parse_bands(roles.sensitive, list(rows.columns))
    fixed = replace(roles, sensitive=tuple(name for name in names if name not in bands))
    cells = np.zeros(len(rows), dtype=np.int64)
    if fixed.sensitive:
        cells += encode_groups(sensitive_frame(rows, fixed), n_rows=len(rows)).codes
    return cells if y is None else cells * 2 + y


def _require_trainable(
    groups: pd.DataFrame, y: Labels, train: Any, test: Any, test_size: float
) -> None:
    found = encode_groups(groups, n_rows=len(groups))
    require_trainable(found, y)
    if len(test) == 0:
        raise InputError(
            f"Expected rows to hold out at test_size={test_size!r}, got none of {len(y)} rows. "
            "Give more rows or a larger test_size."
        )
    counts = np.bincount(found.codes[train], minlength=len(found.labels))
    positives = np.bincount(found.codes[train], weights=y[train], minlength=len(found.labels))
    there = np.flatnonzero(counts)
    labels = tuple(found.labels[code] for code in there)
    require_counts(labels, counts[there], positives[there])


def _require_one_role(roles: Roles) -> None:
    for name, part in ((roles.label, "label"), *((s, "sensitive column") for s in roles.sensitive)):
        taken = {"ids": roles.ids, "drop": roles.drop if part == "label" else ()}
        for other, names in taken.items():
            if name in names:
                raise InputError(
                    f"Expected one role for every column, got {name!r} as {part} and in {other}."
                )
