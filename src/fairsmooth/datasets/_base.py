"""A dataset with groups: what every loader returns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairsmooth import _validate
from fairsmooth._random import numpy_generator
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.groups import Groups, encode_groups
from fairsmooth.exceptions import InputError

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class FairDataset:
    """Features, labels and sensitive features of the same rows, in the same order.

    Attributes
    ----------
    X : DataFrame of shape (n_rows, n_features)
        Float64, ready for a classifier, unless ``encoding`` is "raw".
    y : ndarray of shape (n_rows,)
        0 or 1; ``label`` says what 1 means.
    sensitive_features : Series or DataFrame
        One column, or several, whose combinations are then the groups.
    name : str
        Short name, such as "adult".
    description : str
        One sentence on what the rows are and how they were encoded.
    label : str
        What ``y == 1`` means.
    encoding : str
        How ``X`` was made.
    encoder : TableEncoder or None
        The rules behind ``X``, where they were learned from rows.
    official_train : ndarray of bool or None
        Rows of the official training part, where the publisher fixed one.
    truth : object or None
        For synthetic data, the model that generated it.

    Examples
    --------
    >>> from fairsmooth.datasets import load_compas
    >>> load_compas("aif360", sensitive="race").split()[1]
    FairDataset('compas', encoding='aif360', sensitive='race', shape=(1852, 10))
    """

    X: pd.DataFrame
    y: NDArray[np.int64]
    sensitive_features: "pd.Series[Any] | pd.DataFrame"
    name: str
    description: str
    label: str
    encoding: str = "raw"
    encoder: TableEncoder | None = None
    official_train: NDArray[np.bool_] | None = None
    truth: Any = None
    # What ``encoder`` is applied to, kept so that a split can learn it again.
    _table: pd.DataFrame | None = None

    def __repr__(self) -> str:
        """Name the dataset and its size, not its rows."""
        return (
            f"FairDataset({self.name!r}, encoding={self.encoding!r}, "
            f"sensitive={'+'.join(self.sensitive_names)!r}, shape={self.X.shape})"
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.y)

    @property
    def groups(self) -> Groups:
        """Group labels and the group of every row."""
        return encode_groups(self.sensitive_features, n_rows=len(self))

    @property
    def sensitive_names(self) -> tuple[str, ...]:
        """Names of the sensitive columns."""
        columns = pd.DataFrame(self.sensitive_features).columns
        return tuple(str(name) for name in columns)

    def take(self, rows: ArrayLike) -> "FairDataset":
        """Return some rows, by position or by a mask, encoded as they are now.

        Rows may repeat. The result is numbered from 0 again.
        """
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            _validate.same_length(dataset=self, rows=chosen)
            chosen = np.flatnonzero(chosen)
        part = replace(
            self,
            X=_rows_of(self.X, chosen),
            y=self.y[chosen],
            sensitive_features=_rows_of(self.sensitive_features, chosen),
        )
        if self.official_train is not None:
            part = replace(part, official_train=self.official_train[chosen])
        return part if self._table is None else replace(part, _table=_rows_of(self._table, chosen))

    def split(
        self, test_size: float = 0.3, random_state: int = 0
    ) -> tuple["FairDataset", "FairDataset"]:
        """Split at random into training and test part, stratified on label and group.

        Bins and categories are learned again, on the training part only, and
        applied to both.

        Parameters
        ----------
        test_size : float
            Share of the rows in the test part, between 0 and 1.
        random_state : int
            Equal seeds give equal splits, whatever the encoding.

        Returns
        -------
        train, test : FairDataset
        """
        if not 0 < test_size < 1:
            raise InputError(f"Expected test_size between 0 and 1, got test_size={test_size!r}.")
        groups = self.groups
        cells = groups.codes * 2 + self.y
        random = numpy_generator(random_state, "split", self.name)
        in_test = _stratified_mask(cells, test_size, random)
        if not 0 < in_test.sum() < len(self):
            raise InputError(
                f"Expected rows in both parts, got {int(in_test.sum())} of {len(self)} rows in the "
                f"test part at test_size={test_size!r}."
            )
        return self._parts(np.flatnonzero(~in_test), np.flatnonzero(in_test))

    def official_split(self) -> tuple["FairDataset", "FairDataset"]:
        """Split into the training and test part that the publisher fixed."""
        mask = self.official_train
        if mask is None or mask.all() or not mask.any():
            raise InputError(
                f"Expected a dataset with an official training and test part, got {self.name!r}, "
                "which has none here. Use split()."
            )
        return self._parts(np.flatnonzero(mask), np.flatnonzero(~mask))

    def _parts(self, train: Rows, test: Rows) -> tuple["FairDataset", "FairDataset"]:
        first, second = self.take(train), self.take(test)
        if self.encoder is None or first._table is None:
            return first, second
        encoder = self.encoder.relearn(first._table)
        return first._encoded(encoder), second._encoded(encoder)

    def _encoded(self, encoder: TableEncoder) -> "FairDataset":
        assert self._table is not None
        return replace(self, X=encoder.transform(self._table), encoder=encoder)


def _rows_of(table: Any, rows: NDArray[Any]) -> Any:
    return table.iloc[rows].reset_index(drop=True)


def _stratified_mask(
    cells: NDArray[np.int64], share: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """Mark ``round(share * n)`` rows, ``share`` of every cell up to a rounding of one row."""
    order = random.permutation(len(cells))
    order = order[np.argsort(cells[order], kind="stable")]
    counts = np.bincount(cells)
    starts = np.cumsum(counts) - counts
    # Rounding the running total, not each cell, keeps the sum exact.
    marked = np.round(np.cumsum(counts) * share).astype(np.intp)
    marked_per_cell = np.diff(marked, prepend=0)
    place = np.arange(len(cells)) - np.repeat(starts, counts)
    mask = np.zeros(len(cells), dtype=bool)
    mask[order] = place < np.repeat(marked_per_cell, counts)
    return mask
