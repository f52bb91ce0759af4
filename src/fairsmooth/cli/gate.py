"""Limits on what an audit measured, so that a build can fail; nothing here is guaranteed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairsmooth.guarantees import Limits
    from fairsmooth.metrics import Audit

OPTIONS = {
    "demographic_parity": "--max-dp",
    "equalized_odds_sum": "--max-eo",
    "impact_ratio": "--min-ratio",
}
KEPT = (
    "Every limit is kept by what was measured on these rows. That is no guarantee: "
    "`fairsmooth guarantee` gives one."
)


@dataclass(frozen=True)
class Measured:
    """One limit beside what was measured; ``value`` is None where that is undefined."""

    name: str
    limit: float
    value: float | None
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the measured value keeps the limit; what is undefined does not."""
        from fairsmooth.metrics.auditing.ratio_records import ROUNDING

        if self.value is None:
            return False
        if self.name == "impact_ratio":
            return self.value >= self.limit - ROUNDING
        return self.value <= self.limit + ROUNDING

    def __str__(self) -> str:
        words, option = self.name.replace("_", " "), OPTIONS[self.name]
        if self.value is None:
            return f"{option} {self.limit:g}: {words} could not be measured ({self.note})."
        side = "below" if self.name == "impact_ratio" else "above"
        return (
            f"{option} {self.limit:g}: {words} is {self.value:.4g}, {side} the limit. "
            "Measured on these rows; not a guarantee."
        )


def gate(audit: "Audit", limits: "Limits") -> list[Measured]:
    """Return every limit beside what was measured."""
    found = []
    for name, limit in limits.to_dict().items():
        record = audit.find(name)
        if record is None:
            raise InputError(
                f"Expected labels for {OPTIONS[name]}, got a table without. "
                "Selection rates and the impact ratio need no labels."
            )
        defined = record.value == record.value  # NaN is not itself
        found.append(Measured(name, limit, record.value if defined else None, record.note))
    return found


def verdicts(measured: "Sequence[Measured]") -> list[str]:
    """Say which limits are broken, or that none is; nothing where there are none."""
    broken = [str(one) for one in measured if not one.holds]
    return broken or ([KEPT] if measured else [])
