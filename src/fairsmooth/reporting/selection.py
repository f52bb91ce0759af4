"""Who is selected how often: what the first screen of every page begins with."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairsmooth.guarantees import GapGuarantee
from fairsmooth.metrics import Audit, Record
from fairsmooth.metrics.auditing.weighted import WEIGHTED
from fairsmooth.metrics.intervals import binomial_interval
from fairsmooth.reporting.wording import group_names


@dataclass(frozen=True)
class Measured:
    """A number with its interval, if it has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class GroupRate:
    """How often one group is selected.

    Attributes
    ----------
    name : str
    rows : int
    rate, low, high : float
        The share of its people who are selected, and its interval.
    beside : tuple of (str, float)
        The same for other models on the same rows.
    """

    name: str
    rows: int
    rate: float
    low: float
    high: float
    beside: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Beside:
    """Another model on the same rows."""

    name: str
    gap: float
    ratio: float
    accuracy: float | None


@dataclass(frozen=True)
class Selection:
    """Selection rates of all groups that have rows, the least selected first.

    Attributes
    ----------
    groups : tuple of GroupRate
    absent : tuple of str
        Groups without rows.
    confidence : float or None
        Of every interval by itself; None where there are none.
    gap, ratio : Measured or None
        Largest difference of two rates; least rate over the largest.
    accuracy : Measured or None
    beside : tuple of Beside
    weighted : bool
        Whether rows count by weights, which makes intervals approximate.
    """

    groups: tuple[GroupRate, ...]
    absent: tuple[str, ...]
    confidence: float | None
    gap: Measured | None
    ratio: Measured | None
    accuracy: Measured | None = None
    beside: tuple[Beside, ...] = ()
    weighted: bool = False

    @property
    def lowest(self) -> GroupRate:
        """The least selected group."""
        return self.groups[0]

    @property
    def highest(self) -> GroupRate:
        """The most selected group."""
        return self.groups[-1]

    @classmethod
    def of_audit(cls, audit: Audit, beside: Mapping[str, Audit] | None = None) -> "Selection":
        """Take the rates that an audit measured, beside those of other models."""
        names = group_names(audit.groups)
        others = dict(beside or {})
        found, absent = [], []
        for group, name in names.items():
            record = audit.find("selection_rate", group)
            if record is None or np.isnan(record.value):
                absent.append(name)
                continue
            rates = (
                (label, other.find("selection_rate", group)) for label, other in others.items()
            )
            known = tuple((label, r.value) for label, r in rates if r is not None)
            low, high = record.low or 0.0, 1.0 if record.high is None else record.high
            found.append(GroupRate(name, record.count, record.value, low, high, known))
        return cls(
            _in_order(found),
            tuple(absent),
            audit.confidence,
            _measured(audit.find("demographic_parity")),
            _measured(audit.find("impact_ratio")),
            _measured(audit.find("accuracy")),
            tuple(_beside(name, other) for name, other in others.items()),
            any(record.note.startswith(WEIGHTED) for record in audit.records),
        )

    @classmethod
    def of_counts(
        cls, counts: Sequence[tuple[Hashable, int, int]], *, confidence: float | None
    ) -> "Selection | None":
        """Take rates from rows and positive decisions by group; None where nobody is counted.

        The intervals are of one sample looked at once: of rows that are looked at again
        and again there are none, and ``confidence`` is None.
        """
        names = group_names([group for group, _, _ in counts])
        known = [(names[group], rows, hits) for group, rows, hits in counts if rows]
        if not known:
            return None
        found = []
        for name, rows, hits in known:
            low = high = hits / rows
            if confidence is not None:
                tail = (1.0 - confidence) / 2.0
                low, high = map(float, binomial_interval(hits, rows, error=tail))
            found.append(GroupRate(name, rows, hits / rows, low, high))
        absent = tuple(names[group] for group, rows, _ in counts if not rows)
        groups = _in_order(found)
        least, most = groups[0].rate, groups[-1].rate
        ratio = least / most if most > 0.0 else 1.0
        both = len(groups) > 1
        gap = Measured(most - least) if both else None
        return cls(groups, absent, confidence, gap, Measured(ratio) if both else None)

    @classmethod
    def of_guarantee(cls, guarantee: GapGuarantee) -> "Selection | None":
        """Take rates from the counts of a guarantee, where it shows decisions of one grouping."""
        cells = [c for c in guarantee.counts or () if c.label is None]
        if not cells or guarantee.scores or len({(c.column, c.stratum) for c in cells}) > 1:
            return None
        counts = [(_hashable(c.group), c.rows, c.positive) for c in cells]
        return cls.of_counts(counts, confidence=guarantee.confidence)


def names_in_order(audit: Audit) -> dict[Hashable, str]:
    """Return the groups' names, the least selected first, those without rows last."""

    def place(group: Hashable) -> tuple[bool, float]:
        record = audit.find("selection_rate", group)
        unknown = record is None or bool(np.isnan(record.value))
        return unknown, 0.0 if record is None or unknown else record.value

    names = group_names(audit.groups)
    return {group: names[group] for group in sorted(names, key=place)}


def _hashable(group: object) -> Hashable:
    return tuple(group) if isinstance(group, list) else group


def _in_order(groups: Iterable[GroupRate]) -> tuple[GroupRate, ...]:
    return tuple(sorted(groups, key=lambda group: (group.rate, group.name)))


def _measured(record: Record | None) -> Measured | None:
    if record is None or np.isnan(record.value):
        return None
    return Measured(record.value, record.low, record.high)


def _beside(name: str, audit: Audit) -> Beside:
    values = {
        metric: getattr(_measured(audit.find(metric)), "value", float("nan"))
        for metric in ("demographic_parity", "impact_ratio", "accuracy")
    }
    accuracy = values["accuracy"]
    known = None if np.isnan(accuracy) else accuracy
    return Beside(name, values["demographic_parity"], values["impact_ratio"], known)
