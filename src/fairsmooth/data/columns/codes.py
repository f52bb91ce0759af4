"""Levels of a column as small whole numbers: what a rule gives for a row, and why it gives none."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth._types import Floats

Codes = NDArray[np.signedinteger[Any]]
Column = pd.Series

# A row without a value, where training had none such; a value that cannot be encoded.
MISSING, UNKNOWN = -1, -2


def compact(codes: NDArray[Any], n_levels: int) -> Codes:
    """Return codes in the smallest whole numbers that hold them."""
    small = np.int8 if n_levels < 2**7 else np.int16 if n_levels < 2**15 else np.int32
    return codes.astype(small)


def names_of_levels(levels: list[str]) -> list[str]:
    """Return one indicator per level; of two, the second alone says it all."""
    return levels[1:] if len(levels) == 2 else levels


def write_indicators(codes: Codes, out: Floats) -> None:
    """Set one indicator per row; a lone column is that of code 1, a code below 0 sets none."""
    if out.shape[1] == 1:
        out[:, 0] = codes == 1
        return
    rows = np.flatnonzero(codes >= 0)
    out[rows, codes[rows]] = 1.0


class Levels(ABC):
    """A rule that gives every row a level, and every level an indicator."""

    @abstractmethod
    def codes(self, column: Column) -> Codes:
        """Return the level of every row."""

    def write(self, column: Column, out: Floats) -> Codes:
        """Encode rows; one that has no level sets nothing."""
        codes = self.codes(column)
        write_indicators(codes, out)
        return codes
