"""Numbers cut into intervals."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.data.columns import plain
from fairsmooth.data.columns.values import Column, as_text, numbers, write_indicators

# A column with no more different values than this keeps them apart.
FEW_VALUES = 10


@dataclass(frozen=True)
class Binned:
    """Numbers, one indicator per interval ``(edge, next edge]``.

    With a single edge there is one indicator, that of the upper interval.
    """

    kind: ClassVar[str] = "binned"
    name: str
    edges: tuple[float, ...]

    @classmethod
    def learn(cls, name: str, values: Floats, *, n_bins: int) -> "Binned":
        """Cut at quantiles; a value that fills a bin by itself has one to itself."""
        distinct, counts = np.unique(values, return_counts=True)
        if len(distinct) <= FEW_VALUES:
            return cls(name, tuple(distinct[:-1].tolist()))
        heavy = counts * n_bins >= len(values)
        # The last value of each bin: cuts between the others at their quantiles,
        # then a cut right before and right after each heavy value.
        others = np.cumsum(np.where(heavy, 0, counts))
        last = np.zeros(len(distinct), dtype=bool)
        last[np.searchsorted(others * n_bins, others[-1] * np.arange(1, n_bins))] = True
        last |= heavy
        last[:-1] |= heavy[1:]
        return cls(name, tuple(distinct[:-1][last[:-1]].tolist()))

    @property
    def feature_names(self) -> list[str]:
        """Say the intervals; a column of 0 and 1 keeps its name."""
        if self.edges == (0.0,):
            return [self.name]
        edges = [as_text(edge) for edge in self.edges]
        upper = f"{self.name}>{edges[-1]}"
        if len(edges) == 1:
            return [upper]
        middle = [f"{low}<{self.name}<={high}" for low, high in pairwise(edges)]
        return [f"{self.name}<={edges[0]}", *middle, upper]

    def write(self, column: Column, out: Floats, *, unknown: str) -> None:
        """Encode rows; every finite number has an interval, so none is unknown."""
        del unknown
        values = numbers(self.name, column)
        write_indicators(np.searchsorted(np.array(self.edges), values, side="left"), out)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"kind": self.kind, "name": self.name, "edges": list(self.edges)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Binned":
        """Rebuild from plain data, checked."""
        edges = tuple(plain.finite(edge) for edge in plain.entries(data["edges"]))
        if not edges or any(high <= low for low, high in pairwise(edges)):
            raise ValueError(f"edges that do not increase, {list(edges)}")
        return cls(plain.text(data["name"]), edges)
