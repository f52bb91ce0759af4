"""What a monitor can tell, in plain words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fairsmooth.guarantees.quantities import QUANTITIES
from fairsmooth.guarantees.rounding import ceiling, floor

if TYPE_CHECKING:
    from fairsmooth.guarantees.monitor import GapMonitor

_HEADLINES = {
    "guaranteed": "Still guaranteed, if rates have been constant since {since}.",
    "open": "It cannot be told yet whether the limits are kept.",
    "alarm": "ALARM: a limit is broken, or rates have not been constant since {since}.",
}


def in_words(monitor: "GapMonitor") -> Iterator[str]:
    """Yield the lines of the text."""
    yield _HEADLINES[monitor.status].format(since=monitor.since)
    for name, limit in monitor.limits.items():
        ratio = QUANTITIES[name].ratio
        bound = floor(monitor.bounds[name]) if ratio else ceiling(monitor.bounds[name])
        value = monitor.measured[name]
        measured = lacking(monitor, name) if value is None else f"measured {value:.4f}"
        side = "at least" if ratio else "at most"
        yield f"  {name}: {side} {bound} ({measured}; limit {limit:g})"
    yield (
        f"With {100.0 * monitor.confidence:.6g} % confidence at all times at once, however often "
        "one looks. The alarm also restarts at every batch: without a broken limit that part "
        f"cries wolf at most once in {1.0 / (1.0 - monitor.confidence):.0f} batches on average."
    )
    yield from monitor.notes


def lacking(monitor: "GapMonitor", name: str) -> str:
    """Say what keeps a quantity from being measured."""
    groups = [cell for cell in monitor.counts if cell["label"] is None and cell["rows"]]
    return QUANTITIES[name].lacking if len(groups) > 1 else "fewer than two groups have rows"
