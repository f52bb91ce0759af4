"""Categories, one indicator each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.data.columns import plain
from fairsmooth.data.columns.values import Column, codes_and_texts, write_indicators
from fairsmooth.exceptions import InputError

_SHOWN = 5


@dataclass(frozen=True)
class Categories:
    """Text, one indicator per category, the last for a missing value if training had one.

    With two categories there is one indicator, that of the second.
    """

    kind: ClassVar[str] = "categories"
    name: str
    values: tuple[str, ...]
    missing: bool

    @classmethod
    def learn(cls, name: str, column: Column, *, max_categories: int) -> "Categories":
        """Take the categories that occur, sorted."""
        codes, found = codes_and_texts(name, column)
        if len(found) > max_categories:
            raise InputError(
                f"Expected at most {max_categories} categories in column {name!r}, "
                f"got {len(found)}. Drop the column or raise max_categories."
            )
        return cls(name, tuple(sorted(found)), bool((codes < 0).any()))

    @property
    def is_constant(self) -> bool:
        """Whether training had one category only, so that it says nothing."""
        return len(self.values) + self.missing < 2

    @property
    def feature_names(self) -> list[str]:
        """Name column and category."""
        names = [f"{self.name}={value}" for value in self.values]
        names += [f"{self.name} is missing"] if self.missing else []
        return names[1:] if len(names) == 2 else names

    def write(self, column: Column, out: Floats, *, unknown: str) -> None:
        """Encode rows; a category that training did not have raises or sets nothing."""
        codes, found = codes_and_texts(self.name, column)
        place = {value: code for code, value in enumerate(self.values)}
        if unknown == "error":
            self._refuse_unknown(codes, [value for value in found if value not in place])
        for_missing = len(self.values) if self.missing else -1
        lookup = np.array([*(place.get(value, -1) for value in found), for_missing], dtype=np.intp)
        write_indicators(lookup[codes], out)

    def _refuse_unknown(self, codes: NDArray[np.intp], new: list[str]) -> None:
        if new:
            raise InputError(
                f"Expected column {self.name!r} to hold known categories "
                f"({_listed(self.values)}), got {_listed(sorted(new))}. "
                "Correct them, or encode with unknown='ignore'."
            )
        n_missing = int((codes < 0).sum())
        if n_missing and not self.missing:
            raise InputError(
                f"Expected a value in every row of column {self.name!r}, as in training, "
                f"got {n_missing} missing. Fill them in, or encode with unknown='ignore'."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "kind": self.kind,
            "name": self.name,
            "values": list(self.values),
            "missing": self.missing,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Categories":
        """Rebuild from plain data, checked."""
        values = tuple(plain.text(value) for value in plain.entries(data["values"]))
        if not isinstance(data["missing"], bool):
            raise ValueError(f"missing={data['missing']!r}, neither true nor false")
        rule = cls(plain.text(data["name"]), values, data["missing"])
        if rule.is_constant or len(set(values)) != len(values):
            raise ValueError(f"categories fewer than two or not distinct, {list(values)}")
        return rule


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(repr(value) for value in values[:_SHOWN])
    return f"{shown} and {len(values) - _SHOWN} more" if len(values) > _SHOWN else shown
