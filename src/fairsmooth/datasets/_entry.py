"""How a dataset is declared, so that command line, tests and docs find it by presence."""

from collections.abc import Callable
from dataclasses import dataclass

from fairsmooth.datasets._base import FairDataset


@dataclass(frozen=True)
class DatasetEntry:
    """One dataset of the library.

    Attributes
    ----------
    name : str
        Short name for the command line and for rows of results.
    loader : callable
        Called with keyword arguments, returns a :class:`FairDataset`.
    sensitive : tuple of str
        What ``loader(sensitive=...)`` accepts.
    encodings : tuple of str
        What ``loader(encoding=...)`` accepts; empty if it takes no encoding.
    description : str
        One sentence on what the rows are.
    label : str
        What ``y == 1`` means.
    reference : str
        Where the data comes from.
    checksum : str or None
        SHA-256 of the embedded file; ``None`` for data made by a formula.
    """

    name: str
    loader: Callable[..., FairDataset]
    sensitive: tuple[str, ...]
    encodings: tuple[str, ...]
    description: str
    label: str
    reference: str
    checksum: str | None = None
