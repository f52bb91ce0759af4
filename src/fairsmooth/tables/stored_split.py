"""A split of a stored table in few bytes a row, and where each row goes among the coded ones."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth.data.groups import encode_groups
from fairsmooth.tables.split import Split

Numbers = NDArray[np.integer[Any]]


def row_kind(n_rows: int) -> Any:
    """Return the shortest type of whole numbers that has every row's number, and -1.

    Examples
    --------
    >>> [row_kind(n_rows).name for n_rows in (128, 10_000_000, 2**31, 2**31 + 1)]
    ['int8', 'int32', 'int32', 'int64']
    """
    return np.min_scalar_type(-max(n_rows, 1))


def compact(split: Split) -> Split:
    """Return the same split with a byte per label and group, and short row numbers."""
    kind = row_kind(len(split.usable))
    return replace(
        split,
        y=split.y.astype(np.int8),
        # One text per group and column, not one per row.
        groups=split.groups.astype("category"),
        train=split.train.astype(kind),
        test=split.test.astype(kind),
    )


def by_group(split: Split) -> tuple[Numbers, Numbers]:
    """Sort the training rows by group.

    Returns
    -------
    places : ndarray of int
        Where the training rows, in the order of the table, are then.
    held : ndarray of int
        Which of the usable rows is at each place.
    """
    training = groups_of(split, split.train)
    order = np.argsort(encode_groups(training, n_rows=len(training)).codes, kind="stable")
    places = np.empty(len(order), dtype=split.train.dtype)
    places[order] = np.arange(len(order), dtype=places.dtype)
    return places, split.train[order]


def all_places(split: Split, places: Numbers) -> Numbers:
    """Return the place of every row of the table: training rows, then the others; -1 for none."""
    among = np.empty(len(split.y), dtype=places.dtype)
    among[split.train] = places
    among[split.test] = np.arange(len(places), len(split.y), dtype=places.dtype)
    if split.usable.all():
        return among
    whole = np.full(len(split.usable), -1, dtype=places.dtype)
    whole[split.usable] = among
    return whole


def groups_of(split: Split, rows: Numbers) -> pd.DataFrame:
    """Return the sensitive columns of some rows, numbered anew: an index costs 8 bytes a row."""
    return pd.DataFrame({name: split.groups[name].array.take(rows) for name in split.groups})
