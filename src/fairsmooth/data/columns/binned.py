"""Numbers cut into intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.data.columns import plain
from fairsmooth.data.columns.codes import (
    MISSING,
    UNKNOWN,
    Codes,
    Column,
    Levels,
    compact,
    names_of_levels,
)
from fairsmooth.data.values import Read, normal_text, numbers

# A column with no more different values than this keeps them apart.
FEW_VALUES = 10


@dataclass(frozen=True)
class Binned(Levels):
    """Numbers, one indicator per interval ``(edge, next edge]``, the last for a missing number.

    There is a level for missing numbers if training had some. With two levels
    there is one indicator, that of the second.
    """

    kind: ClassVar[str] = "binned"
    fault: ClassVar[str] = "not a finite number"
    name: str
    edges: tuple[float, ...]
    missing: bool = False

    @classmethod
    def learn(
        cls,
        name: str,
        values: Floats,
        *,
        n_bins: int,
        missing: bool = False,
        few: int = FEW_VALUES,
    ) -> "Binned":
        """Cut at quantiles; a value that fills a bin by itself has one to itself."""
        distinct, counts = np.unique(values, return_counts=True)
        if len(distinct) <= few:
            return cls(name, tuple(distinct[:-1].tolist()), missing)
        heavy = counts * n_bins >= len(values)
        # The last value of each bin: cuts between the others at their quantiles,
        # then a cut right before and right after each heavy value.
        others = np.cumsum(np.where(heavy, 0, counts))
        last = np.zeros(len(distinct), dtype=bool)
        last[np.searchsorted(others * n_bins, others[-1] * np.arange(1, n_bins))] = True
        last |= heavy
        last[:-1] |= heavy[1:]
        return cls(name, tuple(distinct[:-1][last[:-1]].tolist()), missing)

    @property
    def is_constant(self) -> bool:
        """Whether training had one value only, so that it says nothing."""
        return not self.edges and not self.missing

    @property
    def intervals(self) -> list[str]:
        """Say the intervals."""
        edges = [str(normal_text(edge)) for edge in self.edges]
        if not edges:
            return [self.name]
        middle = [f"{low}<{self.name}<={high}" for low, high in pairwise(edges)]
        return [f"{self.name}<={edges[0]}", *middle, f"{self.name}>{edges[-1]}"]

    @cached_property
    def feature_names(self) -> list[str]:
        """Say the intervals; a column of 0 and 1 keeps its name."""
        if self.edges == (0.0,) and not self.missing:
            return [self.name]
        gap = [f"{self.name} is missing"] if self.missing else []
        return names_of_levels(self.intervals + gap)

    def codes(self, column: Column) -> Codes:
        """Return the interval of every row."""
        return self.codes_of(numbers(self.name, column))

    def codes_of(self, read: Read) -> Codes:
        """Return the interval of numbers that were read."""
        n_intervals = len(self.edges) + 1
        codes = np.searchsorted(np.array(self.edges), read.values, side="left")
        codes[read.missing] = n_intervals if self.missing else MISSING
        codes[read.wrong] = UNKNOWN
        return compact(codes, n_intervals + 1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "kind": self.kind,
            "name": self.name,
            "edges": list(self.edges),
            "missing": self.missing,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Binned":
        """Rebuild from plain data, checked; files of format 1 know no missing numbers."""
        missing = plain.flag(data.get("missing", False), "missing")
        return cls(plain.text(data["name"]), plain.edges(data["edges"], empty=missing), missing)
