"""Dates by their year, month and weekday."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from fairsmooth._types import Floats
from fairsmooth.data.columns import plain
from fairsmooth.data.columns.binned import Binned
from fairsmooth.data.columns.codes import Codes, Column, Levels
from fairsmooth.data.values import Read, moments

# By the names that pandas has for them.
PARTS = {"year": "year", "month": "month", "weekday": "day_of_week"}
# A part with no more different values keeps them apart: the months do.
FEW_VALUES = 12


@dataclass(frozen=True)
class DatePart(Levels):
    """Year, month (1 to 12) or weekday (0 is Monday) of a date, cut into intervals."""

    kind: ClassVar[str] = "date"
    fault: ClassVar[str] = "not a date"
    name: str
    part: str
    edges: tuple[float, ...]
    missing: bool = False

    @classmethod
    def learn(cls, name: str, column: Column, *, n_bins: int) -> "list[DatePart]":
        """Return the parts that differ between rows, or the year if only gaps differ."""
        missing, parts = date_parts(name, column)
        edges = {
            part: Binned.learn(name, values, n_bins=n_bins, few=FEW_VALUES)
            for part, values in parts.items()
        }
        return cls.of_edges(name, {part: bins.edges for part, bins in edges.items()}, missing)

    @classmethod
    def of_edges(
        cls, name: str, edges: Mapping[str, tuple[float, ...]], missing: bool
    ) -> "list[DatePart]":
        """Return the parts that have edges."""
        rules = [cls(name, part, cuts, missing) for part, cuts in edges.items() if cuts]
        return rules or ([cls(name, "year", (), missing)] if missing else [])

    @cached_property
    def _bins(self) -> Binned:
        return Binned(f"{self.name} {self.part}", self.edges, self.missing)

    @property
    def feature_names(self) -> list[str]:
        """Say the part and its intervals."""
        return self._bins.feature_names

    def codes(self, column: Column) -> Codes:
        """Return the interval of every row."""
        return self._bins.codes_of(_part(moments(self.name, column), self.part))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "kind": self.kind,
            "name": self.name,
            "part": self.part,
            "edges": list(self.edges),
            "missing": self.missing,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "DatePart":
        """Rebuild from plain data, checked."""
        if plain.text(data["part"]) not in PARTS:
            raise ValueError(f"{data['part']!r} where a part of a date belongs")
        missing = plain.flag(data["missing"], "missing")
        edges = plain.edges(data["edges"], empty=missing)
        return cls(plain.text(data["name"]), data["part"], edges, missing)


def date_parts(name: str, column: Column) -> tuple[bool, dict[str, Floats]]:
    """Return whether a date is missing, and the known values of every part."""
    read = moments(name, column)
    return bool(read.missing.any()), {
        part: _part(read, part).values[~read.missing] for part in PARTS
    }


def _part(read: Read, part: str) -> Read:
    found = getattr(pd.DatetimeIndex(read.values), PARTS[part]).to_numpy(np.float64)
    return read._replace(values=np.where(read.missing | read.wrong, 0.0, found))
