"""Several columns of few levels in one code: fewer numbers to read, look up and add to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth.core.rows.rows import Index

# The indicator of a level that has none: two levels need one, a level may stand for nothing.
NO_FEATURE = -1
# Codes below this fit into a byte.
_BYTE = 256


def packing(sizes: Sequence[int]) -> list[list[int]]:
    """Return which columns share a code, so that the product of their levels stays in a byte.

    The columns of most levels come first; each joins the first code that it fits into.

    Examples
    --------
    >>> packing([12, 300, 12, 3, 2])
    [[1], [0, 2], [3, 4]]
    """
    shared: list[list[int]] = []
    products: list[int] = []
    for column in sorted(range(len(sizes)), key=lambda column: (-sizes[column], column)):
        for place, product in enumerate(products):
            if product * sizes[column] <= _BYTE:
                shared[place].append(column)
                products[place] *= sizes[column]
                break
        else:
            shared.append([column])
            products.append(sizes[column])
    return shared


def pack(
    codes: NDArray[Any], offsets: Index, features: Index, plan: Sequence[Sequence[int]]
) -> tuple[NDArray[Any], Index, Index]:
    """Return codes ``(n, p)``, offsets and features ``(T, w)`` of columns that share codes."""
    stops = np.append(offsets[1:], len(features))
    out = np.zeros((len(codes), len(plan)), dtype=codes.dtype)
    tables: list[Index] = []
    for place, columns in enumerate(plan):
        table = np.empty((1, 0), dtype=features.dtype)
        for column in columns:
            own = features[offsets[column] : stops[column]]
            out[:, place] = out[:, place] * codes.dtype.type(len(own) % _BYTE) + codes[:, column]
            table = np.column_stack(
                [np.repeat(table, len(own), axis=0), np.tile(own, (len(table), 1))]
            )
        tables.append(table)
    width = max(table.shape[1] for table in tables)
    padded = [
        np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=NO_FEATURE)
        for table in tables
    ]
    starts = np.cumsum([0, *(len(table) for table in tables)])[:-1]
    return out, starts, np.concatenate(padded)
