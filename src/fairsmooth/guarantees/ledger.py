"""What a monitor remembers: counts per batch, and nothing about anybody."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth.data.given_groups import given_groups
from fairsmooth.data.groups import Groups, encode_groups, refuse_probabilities
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees.group_labels import written
from fairsmooth.guarantees.quantities import EVERYBODY, NEGATIVE, POSITIVE

LABELS = (EVERYBODY, POSITIVE, NEGATIVE)
MISSING = "(missing)"
# What is counted of each cell of a batch: by group and label, positive decisions and rows.
Counts = dict[tuple[int, int | None], tuple[int, int]]
# The alarm restarts at each of the latest batches; older ones are kept as one sum.
MOST_BATCHES = 500


@dataclass
class Batch:
    """The counts of one batch: rows and positive decisions by group and label."""

    digest: str
    date: str
    kind: str
    counts: Counts

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        cells = [[group, label, *found] for (group, label), found in self.counts.items()]
        return {"digest": self.digest, "date": self.date, "kind": self.kind, "counts": cells}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Batch":
        """Rebuild a batch, refusing counts that cannot be."""
        counts = {}
        for group, label, positive, rows in plain["counts"]:
            whole = all(type(number) is int for number in (group, positive, rows))
            if not (whole and group >= 0 and label in LABELS and 0 <= positive <= rows):
                raise ValueError("a count that cannot be")
            counts[group, label] = (positive, rows)
        return cls(str(plain["digest"]), str(plain["date"]), str(plain["kind"]), counts)


@dataclass
class Ledger:
    """All batches, by group; groups are appended as they turn up."""

    groups: list[Any] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)

    def table(self, label: int | None) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return counts of shape (batches, groups, 2): positive decisions and rows."""
        found = np.zeros((len(self.batches), len(self.groups), 2))
        for row, batch in enumerate(self.batches):
            for (group, kind), numbers in batch.counts.items():
                if kind == label:
                    found[row, group] = numbers
        return found

    def add(self, batch: Batch) -> None:
        """Append a batch; beyond :data:`MOST_BATCHES` the two oldest become one."""
        self.batches.append(batch)
        self.seen[batch.digest] = batch.kind
        if len(self.batches) > MOST_BATCHES:
            first, second = self.batches[:2]
            summed = dict(first.counts)
            for cell, (positive, rows) in second.counts.items():
                old = summed.get(cell, (0, 0))
                summed[cell] = (old[0] + positive, old[1] + rows)
            self.batches[:2] = [Batch(first.digest, first.date, "earlier", summed)]

    def late_labels(self, digest: str, counts: Counts) -> Counts:
        """Return what the labels of a batch that was added before add to its label cells.

        Nothing, if they take labels back that were counted, or if the batch has been summed up
        with others since, so that nobody knows which labels it had.
        """
        if self.seen.get(digest) == "unlabelled":
            return counts
        same = [batch for batch in self.batches if batch.digest == digest]
        if not same or same[0].kind not in ("labelled", "unlabelled"):
            return {}
        left = dict(counts)
        for cell, (positive, rows) in ((c, n) for b in same for c, n in b.counts.items()):
            if cell[1] is not EVERYBODY:
                now = left.get(cell, (0, 0))
                left[cell] = (now[0] - positive, now[1] - rows)
        if any(not 0 <= positive <= rows for positive, rows in left.values()):
            return {}
        return {cell: found for cell, found in left.items() if found[1] > 0}

    def codes(self, groups: Groups) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Return the position of every row's group, appending groups that are new."""
        for label in groups.labels:
            if label not in self.groups:
                self.groups.append(label)
        rank = np.array([self.groups.index(label) for label in groups.labels], dtype=np.intp)
        return rank[groups.codes]


def named_groups(sensitive_features: Any, *, n_rows: int) -> Groups:
    """Encode groups; a missing value is a group with a name of its own."""
    if hasattr(sensitive_features, "to_pandas"):  # polars and Arrow
        sensitive_features = sensitive_features.to_pandas()
    frame = pd.DataFrame(given_groups(sensitive_features))
    for position in range(frame.shape[1]):
        refuse_probabilities(frame.iloc[:, position])
    return written(encode_groups(frame.astype(object).where(frame.notna(), MISSING), n_rows=n_rows))


def known_labels(y_true: Any, *, n_rows: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return 0 or 1 for every row, and -1 where the label is not known yet."""
    truth = pd.to_numeric(pd.Series(np.ravel(y_true)), errors="coerce")
    if len(truth) != n_rows:
        raise InputError(f"Expected one label per decision ({n_rows}), got {len(truth)}.")
    known = truth.notna()
    given = pd.Series(np.ravel(y_true)).notna()
    if not truth[given].isin((0, 1)).all():
        raise InputError("Expected labels 0 or 1 in y_true, or missing ones, got other values.")
    return truth.where(known, -1).to_numpy().astype(np.intp)


def tally(
    values: np.ndarray[Any, np.dtype[np.float64]],
    codes: np.ndarray[Any, np.dtype[np.intp]],
    truth: np.ndarray[Any, np.dtype[np.intp]] | None,
    labels: Iterable[int | None],
) -> Counts:
    """Count positive decisions and rows of every group that occurs, label by label."""
    found: Counts = {}
    for label in labels:
        if label is not EVERYBODY and truth is None:
            continue
        keep = slice(None) if label is EVERYBODY or truth is None else truth == label
        rows = np.bincount(codes[keep])
        hits = np.bincount(codes[keep], weights=values[keep])
        for group in np.flatnonzero(rows).tolist():
            found[group, label] = (round(float(hits[group])), int(rows[group]))
    return found


def digest_of(values: Any, groups: Groups, name: str | None) -> str:
    """Return the digest of a batch: of its name, or of its decisions and groups in order."""
    if name is not None:
        return hashlib.sha256(f"name:{name}".encode()).hexdigest()
    content = hashlib.sha256(repr(groups.labels).encode())
    content.update(np.ascontiguousarray(groups.codes, dtype=np.int64).tobytes())
    content.update(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    return content.hexdigest()


def alarm_date(value: Any) -> str | None:
    """Return since when there is an alarm; what is neither a date nor none would silence it."""
    if value is None or (isinstance(value, str) and value):
        return value
    raise ValueError("an alarm without its date")


def distinct_groups(groups: list[Any]) -> list[Any]:
    """Return groups of a stored ledger, each of which must be there once, as JSON tells them."""
    if len({json.dumps(group, allow_nan=False) for group in groups}) < len(groups):
        raise ValueError("a group that is listed twice")
    return groups


def finite_number(value: Any) -> float:
    """Return a number; texts such as NaN are none."""
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    raise ValueError("a bound that is not a number")
