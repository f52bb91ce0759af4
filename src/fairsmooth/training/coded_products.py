r"""Weighted sums of :math:`x x^\top` over coded rows, which are not spelt out.

Two columns meet in few pairs of levels: the weights of a pair's rows are added up, one column
beside another, and then given to the features that the levels stand for. A row and a pair of
columns cost one addition, where spelt out they cost a product for every pair of their levels.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from fairsmooth._types import Floats
from fairsmooth.core.rows import CodedRows, Rows
from fairsmooth.core.rows.packing import NO_FEATURE
from fairsmooth.core.rows.rows import Index

# Measured: fewer rows to a sum are spelt out and multiplied in less time than pairs of levels
# are gone over, and so are rows of few features to a column.
_LEAST_ROWS, _LEAST_FEATURES = 2048, 5


def pays(rows: Rows, n_sums: int) -> bool:
    """Tell whether these sums are faster by levels, where rows are shared out among ``n_sums``."""
    if not isinstance(rows, CodedRows) or len(rows.number_features):
        return False
    many = len(rows) >= _LEAST_ROWS * n_sums
    return bool(many and rows.shape[1] >= _LEAST_FEATURES * rows.codes.shape[1])


def weighted_products(rows: CodedRows, weights: Floats) -> Floats:
    r"""Return :math:`\sum_i w_i (x_i, 1)(x_i, 1)^\top`, shape (d + 1, d + 1).

    Columns that stay numbers are not meant: ``rows`` must have none.
    """
    behind, ends = _features(rows), np.append(rows.offsets, len(rows.features))
    # The intercept is a column of one level.
    ends = np.append(ends, ends[-1] + 1)
    columns = [*rows.codes.T.astype(np.intp, order="C"), np.zeros(len(rows), dtype=np.intp)]
    half = np.zeros((behind.shape[1], behind.shape[1]))
    for column, sums in enumerate(_sums(columns, ends, weights)):
        own = behind[ends[column] : ends[column + 1]]
        features = np.unique(own.indices)
        half[features] += own[:, features].T @ np.asarray(sums @ behind[ends[column] :])
    return half + half.T


def _sums(columns: list[Index], ends: Index, weights: Floats) -> Iterator[Floats]:
    """Yield, of each column, weights added up by its level and those of the columns from it on.

    A column beside itself counts half: it is in both halves of a symmetric matrix.
    """
    for place, first in enumerate(columns):
        n_levels = int(ends[place + 1] - ends[place])
        sums = np.zeros((n_levels, ends[-1] - ends[place]))
        np.fill_diagonal(sums, 0.5 * np.bincount(first, weights, minlength=n_levels))
        for other in range(place + 1, len(columns)):
            n_others = int(ends[other + 1] - ends[other])
            pairs = np.bincount(
                first * n_others + columns[other], weights, minlength=n_levels * n_others
            )
            start = int(ends[other] - ends[place])
            sums[:, start : start + n_others] = pairs.reshape(n_levels, n_others)
        yield sums


def _features(rows: CodedRows) -> Any:
    """Return which features every level stands for, 0 or 1, the intercept last, (T + 1, d + 1)."""
    sets = rows.features if rows.features.ndim == 2 else rows.features[:, None]
    levels, place = np.nonzero(sets != NO_FEATURE)
    levels, found = np.append(levels, len(sets)), np.append(sets[levels, place], rows.shape[1])
    shape = (len(sets) + 1, rows.shape[1] + 1)
    return csr_array((np.ones(len(levels)), (levels, found)), shape=shape)
