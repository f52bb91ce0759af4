"""Adult and COMPAS, embedded, and synthetic data with a known truth."""

import sys

from fairsmooth._registry import discover, named
from fairsmooth.datasets._base import FairDataset
from fairsmooth.datasets._entry import DatasetEntry
from fairsmooth.datasets._resample import partition_rows, random_partition, with_group_ratio
from fairsmooth.datasets.adult import load_adult
from fairsmooth.datasets.compas import load_compas
from fairsmooth.datasets.synthetic import BiasedTruth, make_biased

__all__ = [
    "BiasedTruth",
    "DatasetEntry",
    "FairDataset",
    "datasets",
    "entry",
    "load_adult",
    "load_compas",
    "make_biased",
    "partition_rows",
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


def entry(name: str) -> DatasetEntry:
    """Return a dataset's entry by its name.

    Examples
    --------
    >>> entry("adult").sensitive
    ('sex', 'race')
    """
    return named(datasets(), dataset=name)
