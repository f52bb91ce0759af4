"""Categories, one indicator each."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

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
from fairsmooth.data.values import normal_codes, normal_text


@dataclass(frozen=True)
class Categories(Levels):
    """Text, one indicator per category, compared by :func:`fairsmooth.data.values.normal_text`.

    A missing value has a level of its own if training had one. If training had too many
    categories, the rarest share one level, ``other``, which new ones then join. With two
    levels there is one indicator, that of the second.
    """

    kind: ClassVar[str] = "categories"
    fault: ClassVar[str] = "not seen in training"
    name: str
    values: tuple[str, ...]
    missing: bool
    other: bool = False

    @classmethod
    def learn(cls, name: str, column: Column, *, max_categories: int) -> "Categories":
        """Take the categories that occur, sorted; of too many, the most frequent."""
        counts, n_missing = count_texts(name, column)
        return cls.of_counts(name, counts, missing=n_missing > 0, max_categories=max_categories)

    @classmethod
    def of_counts(
        cls, name: str, counts: Mapping[str, int], *, missing: bool, max_categories: int
    ) -> "Categories":
        """Learn from how often each category occurs."""
        if len(counts) <= max_categories:
            return cls(name, tuple(sorted(counts)), missing)
        by_count = sorted(counts, key=lambda text: (-counts[text], text))
        return cls(name, tuple(sorted(by_count[: max_categories - 1])), missing, other=True)

    @property
    def is_constant(self) -> bool:
        """Whether training had one category only, so that it says nothing."""
        return len(self.values) + self.missing + self.other < 2

    @cached_property
    def feature_names(self) -> list[str]:
        """Name column and category."""
        names = [f"{self.name}={value}" for value in self.values]
        names += [f"{self.name} is missing"] if self.missing else []
        names += [f"{self.name} is other"] if self.other else []
        return names_of_levels(names)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {str(normal_text(value)): code for code, value in enumerate(self.values)}

    def codes(self, column: Column) -> Codes:
        """Return the level of every row."""
        codes, found = normal_codes(self.name, column)
        for_missing = len(self.values) if self.missing else MISSING
        for_new = len(self.values) + self.missing if self.other else UNKNOWN
        lookup = np.array([*(self._place.get(text, for_new) for text in found), for_missing])
        return compact(lookup[codes], len(self.values) + 2)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "kind": self.kind,
            "name": self.name,
            "values": list(self.values),
            "missing": self.missing,
            "other": self.other,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Categories":
        """Rebuild from plain data, checked; in files of format 1 there is no ``other``."""
        values = tuple(plain.text(value) for value in plain.entries(data["values"]))
        missing = plain.flag(data["missing"], "missing")
        rule = cls(
            plain.text(data["name"]), values, missing, plain.flag(data.get("other", False), "other")
        )
        if rule.is_constant or len(set(values)) != len(values):
            raise ValueError(f"categories fewer than two or not distinct, {list(values)}")
        return rule


def count_texts(name: str, column: Column) -> tuple[dict[str, int], int]:
    """Return how often each category occurs, by its normal text, and how many are missing."""
    codes, found = normal_codes(name, column)
    counts = np.bincount(codes + 1, minlength=len(found) + 1).tolist()
    return dict(zip(found, counts[1:], strict=True)), counts[0]
