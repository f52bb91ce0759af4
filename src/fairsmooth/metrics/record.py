"""One flat record of an audit."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Record:
    """One measured number, with what is needed to judge it.

    Attributes
    ----------
    metric : str
        Name of what was measured.
    group : label or None
        The group it was measured on; None for all rows or between groups.
    value : float
        The measurement; NaN where it is undefined, and then ``note`` says why.
    low, high : float or None
        Ends of the confidence interval; None where the number is exact.
    count : int
        Number of rows it rests on.
    bound : float or None
        The certified upper bound on ``value``; None where nothing is certified.
    note : str
        What a reader must know; empty if nothing.
    """

    metric: str
    group: Hashable | None
    value: float
    low: float | None = None
    high: float | None = None
    count: int = 0
    bound: float | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold; NaN and infinity become ``None``."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}


def plain(value: Any) -> Any:
    """Return a value that JSON can hold: no NaN, no tuples as labels."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def by_metric_and_group(
    records: Iterable[Record],
) -> dict[tuple[str, Hashable | None], Record]:
    """Return the records by what they are about."""
    return {(record.metric, record.group): record for record in records}
