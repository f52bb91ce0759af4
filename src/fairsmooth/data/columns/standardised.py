"""Numbers centred and scaled."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.data.columns import plain
from fairsmooth.data.columns.values import Column, numbers
from fairsmooth.exceptions import InputError


@dataclass(frozen=True)
class Standardised:
    """Numbers, centred and divided by their standard deviation in training."""

    kind: ClassVar[str] = "standardised"
    name: str
    mean: float
    scale: float

    @classmethod
    def learn(cls, name: str, values: Floats) -> "Standardised":
        """Take mean and standard deviation of values that are not all equal."""
        # In units of the largest, so that no square overflows.
        largest = float(np.abs(values).max())
        unit = values / largest
        return cls(name, float(unit.mean()) * largest, float(unit.std()) * largest)

    @property
    def feature_names(self) -> list[str]:
        """Keep the name of the column."""
        return [self.name]

    def write(self, column: Column, out: Floats, *, unknown: str) -> None:
        """Encode rows; no number is unknown, though one can be too large."""
        del unknown
        with np.errstate(over="ignore"):
            out[:, 0] = (numbers(self.name, column) - self.mean) / self.scale
        if not np.isfinite(out).all():
            raise InputError(
                f"Expected numbers near {self.mean:g} in column {self.name!r}, as in training, "
                f"got one too large, {np.abs(numbers(self.name, column)).max():g}."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"kind": self.kind, "name": self.name, "mean": self.mean, "scale": self.scale}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Standardised":
        """Rebuild from plain data, checked."""
        mean, scale = plain.finite(data["mean"]), plain.finite(data["scale"])
        if scale <= 0:
            raise ValueError(f"a scale that is not positive, {scale!r}")
        return cls(plain.text(data["name"]), mean, scale)
