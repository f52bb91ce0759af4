"""Numbers centred and scaled."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairsmooth._types import Floats
from fairsmooth.data.columns import plain
from fairsmooth.data.columns.codes import MISSING, UNKNOWN, Codes, Column, compact
from fairsmooth.data.values import numbers


@dataclass(frozen=True)
class Standardised:
    """Numbers, centred and divided by their standard deviation in training.

    If training had missing numbers, a missing one counts as the mean and sets an
    indicator of its own.
    """

    kind: ClassVar[str] = "standardised"
    fault: ClassVar[str] = "not a finite number, or one too large to scale"
    name: str
    mean: float
    scale: float
    missing: bool = False

    @classmethod
    def learn(cls, name: str, values: Floats, *, missing: bool = False) -> "Standardised":
        """Take mean and standard deviation of values that are not all equal."""
        # In units of the largest, so that no square overflows.
        largest = float(np.abs(values).max())
        unit = values / largest
        return cls(name, float(unit.mean()) * largest, float(unit.std()) * largest, missing)

    @property
    def feature_names(self) -> list[str]:
        """Keep the name of the column."""
        return [self.name, f"{self.name} is missing"] if self.missing else [self.name]

    def codes(self, column: Column) -> Codes:
        """Return 0 for a number and 1 for a missing one."""
        return self._scaled(column)[1]

    def write(self, column: Column, out: Floats) -> Codes:
        """Encode rows; no number is unknown, though one can be too large."""
        scaled, codes = self._scaled(column)
        out[:, 0] = np.where(codes == 0, scaled, 0.0)
        if self.missing:
            out[:, 1] = codes == 1
        return codes

    def _scaled(self, column: Column) -> tuple[Floats, Codes]:
        read = numbers(self.name, column)
        with np.errstate(over="ignore"):
            scaled = (read.values - self.mean) / self.scale
        codes = np.where(read.missing, 1 if self.missing else MISSING, 0)
        codes[(read.wrong | ~np.isfinite(scaled)) & ~read.missing] = UNKNOWN
        return scaled, compact(codes, 2)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "kind": self.kind,
            "name": self.name,
            "mean": self.mean,
            "scale": self.scale,
            "missing": self.missing,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Standardised":
        """Rebuild from plain data, checked; files of format 1 know no missing numbers."""
        mean, scale = plain.finite(data["mean"]), plain.finite(data["scale"])
        if scale <= 0:
            raise ValueError(f"a scale that is not positive, {scale!r}")
        missing = plain.flag(data.get("missing", False), "missing")
        return cls(plain.text(data["name"]), mean, scale, missing)
