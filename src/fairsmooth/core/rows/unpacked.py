"""Columns of coded rows, each alone: what :func:`fairsmooth.core.rows.packing.pack` undone says."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairsmooth.core.rows.coded import CodedRows
from fairsmooth.core.rows.packing import NO_FEATURE


class SourceColumn(NamedTuple):
    """One column of those that share a code.

    Attributes
    ----------
    code : int
        Which code of a row has its level.
    features : ndarray of int32
        The feature of every level of that code, or ``NO_FEATURE``.
    """

    code: int
    features: NDArray[np.int32]


def source_columns(rows: CodedRows) -> list[SourceColumn]:
    """Return the columns that have features, in the order of these.

    Examples
    --------
    >>> from fairsmooth.core.rows import CodedRows
    >>> rows = CodedRows(
    ...     np.zeros((1, 2), dtype=np.uint8), np.array([0, 2]), np.array([1, -1, 0, 2]),
    ...     np.empty((1, 0)), np.empty(0, dtype=int), tuple("abc"))
    >>> [(column.code, column.features.tolist()) for column in source_columns(rows.packed())]
    [(0, [1, 1, -1, -1]), (0, [0, 2, 0, 2])]
    """
    # Every level has a feature, or one of each of the columns that share its code.
    sets = np.atleast_2d(rows.features.T).T.astype(np.int32)
    found = [
        SourceColumn(code, features.copy())
        for code, levels in enumerate(np.split(sets, rows.offsets[1:]))
        for features in levels.T
        if (features != NO_FEATURE).any()
    ]
    return sorted(found, key=lambda column: column.features.max())
