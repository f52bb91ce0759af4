"""Adult and COMPAS, embedded, and synthetic data with a known truth."""

import sys

from fairsmooth._registry import discover
from fairsmooth.datasets._base import FairDataset
from fairsmooth.datasets._entry import DatasetEntry
from fairsmooth.datasets._resample import random_partition, with_group_ratio
from fairsmooth.datasets.adult import load_adult
from fairsmooth.datasets.compas import load_compas
from fairsmooth.datasets.synthetic import BiasedTruth, make_biased

__all__ = [
    "BiasedTruth",
    "DatasetEntry",
    "FairDataset",
    "datasets",
    "load_adult",
    "load_compas",
    "make_biased",
    "random_partition",
    "with_group_ratio",
]


def datasets() -> tuple[DatasetEntry, ...]:
    """List every dataset of the library, found by presence.

    Examples
    --------
    >>> [entry.name for entry in datasets()]
    ['adult', 'compas', 'synthetic']
    """
    return discover(sys.modules[__name__], "DATASETS")
