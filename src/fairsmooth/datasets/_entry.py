"""How a dataset is declared, so that command line, tests and docs find it by presence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from fairsmooth import _validate
from fairsmooth.datasets._base import FairDataset


@dataclass(frozen=True)
class DatasetEntry:
    """One dataset of the library.

    Attributes
    ----------
    name : str
        Short name for the command line and for rows of results, without a hyphen.
    title : str
        Name as one reads it.
    loader : callable
        Called with ``encoding`` and ``sensitive``, returns a :class:`FairDataset`.
    sensitive : tuple of str
        What ``loader(sensitive=...)`` accepts, the usual one first.
    encodings : tuple of str
        What ``loader(encoding=...)`` accepts; "raw" is among them. Where "binned" is
        not, :meth:`load` makes it from the raw columns.
    description : str
        One sentence on what the rows are.
    label : str
        What ``y == 1`` means.
    label_column : str
        Name of the column that holds ``y`` in :meth:`table`.
    reference : str
        Where the data comes from.
    checksum : str or None
        SHA-256 of the embedded file; ``None`` for data made by a formula.
    drop : tuple of str
        Columns of :meth:`table` that no model should learn from.
    varied_group : mapping
        For a sensitive column, the group whose share an experiment varies; by
        default the first one.
    """

    name: str
    title: str
    loader: Callable[..., FairDataset]
    sensitive: tuple[str, ...]
    encodings: tuple[str, ...]
    description: str
    label: str
    label_column: str
    reference: str
    checksum: str | None = None
    drop: tuple[str, ...] = ()
    varied_group: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def available(self) -> tuple[str, ...]:
        """What :meth:`load` accepts as an encoding."""
        return tuple(dict.fromkeys((*self.encodings, "binned")))

    def load(self, *, encoding: str = "raw", sensitive: str | None = None) -> FairDataset:
        """Return the rows in one encoding, with the usual sensitive column unless one is given."""
        chosen = self.sensitive[0] if sensitive is None else sensitive
        _validate.one_of(self.sensitive, sensitive=chosen)
        _validate.one_of(self.available, encoding=encoding)
        if encoding in self.encodings:
            return self.loader(encoding=encoding, sensitive=chosen)
        return self.loader(encoding="raw", sensitive=chosen).binned()

    def table(self, sensitive: str | None = None) -> pd.DataFrame:
        """Return the columns as published, the sensitive column and the label, as a file has them.

        The sensitive column is the one asked for, and no other.
        """
        data = self.load(sensitive=sensitive)
        table = data.X.copy()
        table[data.sensitive_names[0]] = data.sensitive_features
        table[self.label_column] = data.y
        return table
