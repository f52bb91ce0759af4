"""The rows of a search, cut into folds once, encoded once per fold, and shared by all trials."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from fairsmooth._random import seed_from
from fairsmooth._types import Floats, Labels
from fairsmooth.data.groups import Groups, encode_groups
from fairsmooth.exceptions import InputError

GIVEN = "given"
# One to be judged and some to learn from, whatever the number of folds.
_LEAST_ROWS_OF_A_CELL = 4

RowNumbers = NDArray[np.intp]
Encode = Callable[[RowNumbers, RowNumbers], tuple[Floats, Floats]]
"""From rows to learn columns from, and rows to judge, to both in those columns."""


@dataclass(frozen=True)
class SearchRows:
    """Training rows, in every way of encoding them that a search may choose.

    Attributes
    ----------
    y : ndarray of int
        0 or 1.
    groups : Groups
    encodings : mapping
        By name, how columns are learned from some rows and applied to others.
    digest : str
        Of the rows and of whatever else decides what the encodings do.
    """

    y: Labels
    groups: Groups
    encodings: Mapping[str, Encode]
    digest: str

    @classmethod
    def of_arrays(cls, X: Any, y: Any, sensitive: Any, digest: Callable[..., str]) -> "SearchRows":
        """Take rows that are numbers already; the larger label is the positive one."""
        numbers = np.ascontiguousarray(X, dtype=np.float64)
        labels = np.asarray(y)
        groups = encode_groups(sensitive, n_rows=len(labels))
        positive = (labels == labels.max()).astype(np.int64)
        arrays = {"X": numbers, "y": positive, "groups": groups.codes}
        plain = {GIVEN: lambda learn, judge: (numbers[learn], numbers[judge])}
        return cls(positive, groups, plain, digest(arrays))

    def cut(self, n_folds: int, seed: int) -> "list[tuple[RowNumbers, RowNumbers]]":
        """Cut the rows by group and label: for every fold, rows to learn from and to judge."""
        cells = 2 * self.groups.codes + self.y
        smallest = int(np.bincount(cells)[np.unique(cells)].min())
        needed = max(_LEAST_ROWS_OF_A_CELL, n_folds)
        if smallest < needed:
            raise InputError(
                f"Expected at least {needed} rows of every label in every group to "
                f"hold some out, got {smallest}. Merge small groups."
            )
        folds = StratifiedKFold(
            n_folds, shuffle=True, random_state=seed_from(seed, "folds") % 2**32
        )
        return list(folds.split(cells, cells))


@dataclass(frozen=True)
class Fold:
    """One fold in one encoding: what a model learns from, and what it is judged on."""

    X: Floats
    y: Labels
    codes: NDArray[np.intp]
    X_judged: Floats
    y_judged: Labels
    groups_judged: Groups


class Folds:
    """All folds in all encodings, each encoded when a trial first asks for it."""

    def __init__(self, rows: SearchRows, n_folds: int, seed: int) -> None:
        self.rows = rows
        self.cuts = rows.cut(n_folds, seed)
        self._known: dict[str, list[Fold]] = {}

    def encoded(self, columns: str) -> list[Fold]:
        """Return the folds in these columns."""
        if columns not in self._known:
            self._known[columns] = [self._encode(columns, *cut) for cut in self.cuts]
        return self._known[columns]

    def _encode(self, columns: str, learn: RowNumbers, judge: RowNumbers) -> Fold:
        y, groups = self.rows.y, self.rows.groups
        X, X_judged = self.rows.encodings[columns](learn, judge)
        judged = Groups(groups.labels, groups.codes[judge])
        return Fold(
            np.ascontiguousarray(X, dtype=np.float64),
            y[learn],
            groups.codes[learn],
            np.ascontiguousarray(X_judged, dtype=np.float64),
            y[judge],
            judged,
        )


def frame_rows(frame: pd.DataFrame, rows: RowNumbers) -> pd.DataFrame:
    """Return some rows of a table, numbered anew."""
    return frame.iloc[rows].reset_index(drop=True)
