"""All columns of a table as codes and numbers, column by column into one array each."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.core.rows import CodedRows
from fairsmooth.core.rows.packing import NO_FEATURE
from fairsmooth.data.columns import Codes, Rule
from fairsmooth.data.columns.codes import Column, Levels


@dataclass
class CodedWriter:
    """Rules that give levels write codes, the others numbers; each column once, in order.

    A column of ``L`` levels has ``L + 1`` codes: the last sets no indicator, for a row that
    has no level. Of two levels the second has the only indicator.
    """

    codes: NDArray[np.unsignedinteger]
    numbers: Floats
    offsets: list[int] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    number_features: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, rules: Sequence[Rule], *, n_rows: int) -> "CodedWriter":
        """Make room for rows under these rules, one byte per code where that will do."""
        coded = [rule for rule in rules if isinstance(rule, Levels)]
        width = sum(len(rule.feature_names) for rule in rules if not isinstance(rule, Levels))
        most = max((n_levels(rule) for rule in coded), default=0)
        kind = np.min_scalar_type(most)
        return cls(np.empty((n_rows, len(coded)), kind), np.empty((n_rows, width)))

    def write(self, rule: Rule, column: Column) -> Codes:
        """Encode a column; return its codes, below 0 for rows that it cannot encode."""
        first = len(self.names)
        self.names += rule.feature_names
        if not isinstance(rule, Levels):
            place = len(self.number_features)
            self.number_features += range(first, len(self.names))
            part = self.numbers[:, place : len(self.number_features)]
            part[:] = 0.0
            return rule.write(column, part)
        codes, levels = rule.codes(column), n_levels(rule)
        place = len(self.offsets)
        self.offsets.append(len(self.features))
        if len(rule.feature_names) == 1:
            self.features += [NO_FEATURE, first, NO_FEATURE]
        else:
            self.features += [*range(first, first + levels), NO_FEATURE]
        self.codes[:, place] = np.where(codes < 0, levels, codes)
        return codes

    def rows(self) -> CodedRows:
        """Return what was written."""
        return CodedRows(
            self.codes,
            np.array(self.offsets, dtype=np.int64),
            np.array(self.features, dtype=np.int64),
            self.numbers,
            np.array(self.number_features, dtype=np.int64),
            tuple(self.names),
        )


def n_levels(rule: Any) -> int:
    """Return how many levels a rule has; two share one indicator."""
    return max(2, len(rule.feature_names))


def void_rows(rows: CodedRows, lost: NDArray[np.bool_]) -> CodedRows:
    """Return rows of which some set no indicator and have no number other than 0."""
    stops = np.append(rows.offsets[1:], len(rows.features))
    nothing = (stops - rows.offsets - 1).astype(rows.codes.dtype)
    return replace(
        rows,
        codes=np.where(lost[:, None], nothing, rows.codes),
        numbers=np.where(lost[:, None], 0.0, rows.numbers),
    )
