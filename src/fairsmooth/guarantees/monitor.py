"""Watching the gaps of a rule in use: whoever looks, however often, is told the truth."""

import datetime
from collections.abc import Mapping
from itertools import permutations
from typing import Any

import numpy as np

from fairsmooth.core.contrasts.anytime import anytime_alarm, anytime_bound, log_evidence
from fairsmooth.core.labels import group_text
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees.gaps import decisions_of
from fairsmooth.guarantees.ledger import (
    LABELS,
    Batch,
    Ledger,
    alarm_date,
    digest_of,
    distinct_groups,
    finite_number,
    known_labels,
    named_groups,
    tally,
)
from fairsmooth.guarantees.limits import Limits, check_limits, chosen_confidence, limit_table
from fairsmooth.guarantees.quantities import EVERYBODY, QUANTITIES, Quantity

FORMAT = "fairsmooth-gap-monitor"
GUARANTEED, OPEN, ALARM = "guaranteed", "open", "alarm"
_REPEATED = "This batch was added before; it is ignored."


class GapMonitor:
    r"""Anytime-valid bounds on the gaps of a rule in use.

    While the rates of all cells stay what they are, with probability at least ``confidence`` the
    status "guaranteed" is true, and "alarm" is, **at all times at once**, however often somebody
    looks. Rates drift, so the alarm also restarts at every batch and adds up the evidence (an
    e-detector): without a broken limit, it takes at least :math:`1/\delta` batches on average until
    that part cries wolf. An alarm stays until a new monitor is started.

    Parameters
    ----------
    limits : mapping or Limits
        As for :func:`guarantee_gaps`.
    confidence : float, optional
        0.95 unless ``limits`` says otherwise.

    Attributes
    ----------
    status : str
        "guaranteed", "open" (it cannot be told) or "alarm".
    bounds, measured : dict
        By quantity; a measured value is ``None`` while a cell is empty.
    history : list of dict
        Date, status, bounds and measured values after every batch.
    notes : list of str
        What the latest batch brought that one should know: new groups, missing labels, repeats.

    Examples
    --------
    >>> monitor = GapMonitor({"demographic_parity": 0.4})
    >>> monitor.update([1, 0, 0, 1] * 300, sensitive_features=["a", "a", "b", "b"] * 300)
    'guaranteed'
    """

    def __init__(self, limits: Limits | Mapping[str, Any], confidence: float | None = None) -> None:
        table = limit_table(limits)
        if set(table) != {None}:
            raise InputError(
                "Expected limits by quantity, got limits by column. Use one monitor per column."
            )
        self.limits = table[None]
        self.confidence = chosen_confidence(limits, confidence)
        self.history: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self._ledger = Ledger()
        self._alarmed: str | None = None
        self._judge()

    @property
    def since(self) -> str | None:
        """Date of the first batch: the status holds if rates have been constant since then."""
        return self._ledger.batches[0].date if self._ledger.batches else None

    @property
    def counts(self) -> list[dict[str, Any]]:
        """Rows and positive decisions of every cell, over all batches."""
        return [
            {"group": group, "label": label, "rows": int(n), "positive": int(x)}
            for label in LABELS
            for group, (x, n) in zip(self._ledger.groups, self._totals(label), strict=True)
        ]

    def update(
        self,
        y_pred: Any,
        *,
        sensitive_features: Any,
        y_true: Any = None,
        batch: str | None = None,
        date: str | None = None,
    ) -> str:
        """Add a batch and return the status.

        A batch that was added before is ignored: one with the same ``batch`` name or, without
        names, with the same decisions and groups in the same order. If it has labels now that
        it had not, they are added to the label cells and nothing else is.

        Parameters
        ----------
        y_pred : array-like of 0 and 1
            Decisions.
        sensitive_features : array-like
            Groups; a new or a missing one is counted and named in ``notes``.
        y_true : array-like, optional
            Labels, 0 or 1; missing ones are allowed and may come later.
        batch : str, optional
            A name; needed where two batches may be alike by chance.
        date : str, optional
            Today if left out.
        """
        values = decisions_of(y_pred)
        groups = named_groups(sensitive_features, n_rows=len(values))
        truth = None if y_true is None else known_labels(y_true, n_rows=len(values))
        digest = digest_of(values, groups, batch)
        kind = self._kind(digest, groups.labels, labelled=truth is not None)
        self.notes = self._notes(groups.labels, truth, kind)
        if kind == "repeated":
            return self.status
        codes = self._ledger.codes(groups)
        labels = [label for label in LABELS if kind != "labels" or label is not EVERYBODY]
        counts = tally(values, codes, truth, labels)
        if kind == "labels" and not (counts := self._ledger.late_labels(digest, counts)):
            self.notes = [_REPEATED]
            return self.status
        day = date or datetime.date.today().isoformat()
        self._ledger.add(Batch(digest, day, kind, counts))
        self._judge()
        self.history.append(
            {"date": day, "status": self.status, "bounds": self.bounds, "measured": self.measured}
        )
        return self.status

    def _kind(self, digest: str, labels: tuple[Any, ...], *, labelled: bool) -> str:
        if digest not in self._ledger.seen:
            return "labelled" if labelled else "unlabelled"
        known = all(label in self._ledger.groups for label in labels)
        return "labels" if labelled and known else "repeated"

    def _notes(self, labels: tuple[Any, ...], truth: Any, kind: str) -> list[str]:
        notes = []
        if kind == "repeated":
            return [_REPEATED]
        if kind == "labels":
            notes.append("Labels of an earlier batch: added to the label cells only.")
        new = [label for label in labels if label not in self._ledger.groups]
        if new and self._ledger.groups:
            notes.append(f"New groups: {', '.join(map(group_text, new))}.")
        if truth is not None and (truth < 0).any():
            notes.append(f"{int((truth < 0).sum())} rows without a label count for selection only.")
        return notes

    def _totals(self, label: int | None) -> list[tuple[int, int]]:
        summed = self._ledger.table(label).sum(axis=0)
        return [(int(x), int(n)) for x, n in summed]

    def _judge(self) -> None:
        """Work out bounds, measured values and status from the counts."""
        error = 1.0 - self.confidence
        self.bounds: dict[str, float] = {}
        self.measured: dict[str, float | None] = {}
        enough = len(self._ledger.groups) > 1
        kept, broken = enough, False
        for name, limit in self.limits.items():
            quantity = QUANTITIES[name]
            families = [self._totals(label) for label in quantity.labels]
            empty = not enough or any(n == 0 for family in families for _, n in family)
            self.bounds[name] = quantity.worst if empty else _bound(quantity, families, error)
            self.measured[name] = None if empty else _measure(quantity, families)
            kept &= not empty and quantity.within(self.bounds[name], limit)
            if enough:
                share = error / len(self.limits)
                broken |= _lower_breaks(quantity, families, limit, share)
                broken |= self._detects(quantity, limit, share)
        if broken and self._alarmed is None:
            self._alarmed = self._ledger.batches[-1].date
        self.status = ALARM if self._alarmed else GUARANTEED if kept else OPEN

    def _detects(self, quantity: Quantity, limit: float, error: float) -> bool:
        """Tell whether the evidence of all restarts adds up to an alarm for some pair."""
        if limit > 1.0:
            return False
        pairs = list(permutations(range(len(self._ledger.groups)), 2))
        share = error / (len(pairs) * len(quantity.labels))
        for label in quantity.labels:
            table = self._ledger.table(label)
            # Row j: everything from batch j on.
            since = np.cumsum(table[::-1], axis=0)[::-1]
            first, second = np.array(pairs).T
            counts = np.stack(
                [since[:, first, 0], since[:, first, 1], since[:, second, 0], since[:, second, 1]]
            )
            logs = log_evidence(counts, ratio=quantity.ratio, limit=limit, above=quantity.ratio)
            # A batch without rows of a pair is no new start for it.
            begins = (table[:, first, 1] > 0) & (table[:, second, 1] > 0)
            evidence = np.where(begins, np.exp(np.minimum(logs, 700.0)), 0.0).sum(axis=0)
            if (evidence >= 1.0 / share).any():
                return True
        return False

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold: counts and digests, no rows."""
        return {
            "format": FORMAT,
            "version": 1,
            "limits": self.limits,
            "confidence": self.confidence,
            "alarmed": self._alarmed,
            "groups": [list(g) if isinstance(g, tuple) else g for g in self._ledger.groups],
            "batches": [batch.to_dict() for batch in self._ledger.batches],
            "seen": dict(self._ledger.seen),
            "history": self.history,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "GapMonitor":
        """Rebuild a monitor from :meth:`to_dict`; what does not fit is refused."""
        try:
            if plain["format"] != FORMAT or plain["version"] != 1:
                raise ValueError("another format")
            monitor = cls(check_limits(plain["limits"]), confidence=plain["confidence"])
            groups = [tuple(g) if isinstance(g, list) else g for g in plain["groups"]]
            batches = [Batch.from_dict(batch) for batch in plain["batches"]]
            if any(group >= len(groups) for batch in batches for group, _ in batch.counts):
                raise ValueError("a group that is not listed")
            monitor._ledger = Ledger(distinct_groups(groups), batches, dict(plain["seen"]))
            monitor._alarmed = alarm_date(plain["alarmed"])
            monitor.history = [_entry(entry, monitor.limits) for entry in plain["history"]]
            monitor._judge()
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(
                "Expected the state of a monitor as written by GapMonitor.to_dict, "
                f"got one that does not fit: {error}."
            ) from error
        return monitor

    def __str__(self) -> str:
        """Say in plain words what can be told."""
        from fairsmooth.guarantees.monitor_words import in_words

        return "\n".join(in_words(self))


def _entry(plain: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, Any]:
    """Rebuild one entry of the history: a number, or none yet, for every limit."""
    if plain["status"] not in (GUARANTEED, OPEN, ALARM):
        raise ValueError("a status that there is none of")
    measured = {name: plain["measured"][name] for name in limits}
    return {
        "date": str(plain["date"]),
        "status": plain["status"],
        "bounds": {name: finite_number(plain["bounds"][name]) for name in limits},
        "measured": {
            k: None if value is None else finite_number(value) for k, value in measured.items()
        },
    }


def _bound(quantity: Quantity, families: list[list[tuple[int, int]]], error: float) -> float:
    share = error / len(families) if quantity.summed else error
    found = [anytime_bound(family, ratio=quantity.ratio, error=share) for family in families]
    return quantity.combine(found)


def _lower_breaks(
    quantity: Quantity, families: list[list[tuple[int, int]]], limit: float, error: float
) -> bool:
    """Tell whether the limit is surely broken; the error is shared by labels and pairs."""
    share = error / len(families)
    found = [anytime_alarm(family, ratio=quantity.ratio, error=share) for family in families]
    return not quantity.within(quantity.combine(found), limit)


def _measure(quantity: Quantity, families: list[list[tuple[int, int]]]) -> float:
    values = []
    for family in families:
        rates = [x / n for x, n in family]
        spread = max(rates) - min(rates)
        ratio = min(rates) / max(rates) if max(rates) > 0.0 else 1.0
        values.append(ratio if quantity.ratio else spread)
    return quantity.combine(values)
