"""What the parity term's surrogate shows beside what decisions do, on the training rows."""

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from fairsmooth._types import Floats, Labels
from fairsmooth.data.groups import Groups
from fairsmooth.exceptions import ParityWarning
from fairsmooth.training.parity import soft_decisions
from fairsmooth.training.settings import Settings

NAMES = {
    "demographic_parity": "demographic parity gap",
    "equalized_odds_sum": "equalized odds gap (sum)",
}
PENALISED = {
    "demographic_parity": ("demographic_parity",),
    "equalized_odds": ("equalized_odds_sum",),
    "both": tuple(NAMES),
}
# Gaps that are nearer than this are one gap for whoever sets a limit to two digits.
APART = 0.02


@dataclass(frozen=True)
class ParityGaps:
    """Gaps between groups on the training rows: largest minus smallest rate.

    Attributes
    ----------
    surrogate : dict
        ``demographic_parity`` and ``equalized_odds_sum`` of soft decisions, which the parity
        term penalises (for more than two groups, their mean over pairs).
    decisions : dict
        The same of decisions.
    apart : tuple of str
        Those of the penalised gaps in which the two differ by more than 0.02, and by more than
        the standard error of the gap of decisions: what so few rows cannot tell apart is no
        disagreement.
    """

    surrogate: Mapping[str, float]
    decisions: Mapping[str, float]
    apart: tuple[str, ...]

    @classmethod
    def of(
        cls,
        scores: Floats,
        y: Labels,
        groups: Groups,
        *,
        threshold: float,
        bandwidth: float,
        parity: str = "both",
    ) -> "ParityGaps":
        """Measure both kinds of decisions at the scores of the training rows."""
        soft = soft_decisions(torch.as_tensor(scores), threshold=threshold, bandwidth=bandwidth)
        hard = (scores > threshold).astype(np.float64)
        of_hard = _families(hard, y, groups)
        surrogate, decisions = _gaps(_families(soft.numpy(), y, groups)), _gaps(of_hard)
        noise = {name: sum(each.noise() for each in of_hard[name]) for name in of_hard}
        apart = (
            name
            for name in PENALISED[parity]
            if abs(surrogate[name] - decisions[name]) > max(APART, math.sqrt(noise[name]))
        )
        return cls(surrogate, decisions, tuple(apart))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "surrogate": dict(self.surrogate),
            "decisions": dict(self.decisions),
            "apart": list(self.apart),
        }

    def __str__(self) -> str:
        return "On training rows: " + ", ".join(
            f"{label} {self.decisions[name]:.4f} of decisions and {self.surrogate[name]:.4f} of "
            "the parity term's surrogate"
            for name, label in NAMES.items()
        )


def compare_gaps(
    settings: Settings, scores: Floats, y: Labels, groups: Groups, threshold: float
) -> ParityGaps:
    """Measure both at the scores of the training rows, and warn where they are apart."""
    gaps = ParityGaps.of(
        scores,
        y,
        groups,
        threshold=threshold,
        bandwidth=settings.parity_bandwidth,
        parity=settings.parity or "both",
    )
    warn_disagreement(gaps)
    return gaps


def warn_disagreement(gaps: ParityGaps) -> None:
    """Warn, in one line, where the surrogate does not show what decisions do."""
    if not gaps.apart:
        return
    shown = ", ".join(
        f"{NAMES[name]} {gaps.decisions[name]:.3f} (surrogate {gaps.surrogate[name]:.3f})"
        for name in gaps.apart
    )
    warnings.warn(
        f"On training rows decisions have other gaps than the parity term's surrogate: {shown}. "
        "Judge by decisions; a smaller parity_bandwidth brings the two together.",
        ParityWarning,
        stacklevel=2,
    )


@contextmanager
def decisions_are_judged() -> Iterator[None]:
    """Leave the warning to those who look at the surrogate: here decisions are measured anyway."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ParityWarning)
        yield


@dataclass(frozen=True)
class _Rates:
    """Number of rows and rate of each group, among rows of one label or among all."""

    counts: Floats
    rates: Floats

    @classmethod
    def of(cls, counts: Floats, sums: Floats) -> "_Rates":
        """Leave out groups without rows: they have no say."""
        some = counts > 0
        return cls(counts[some], sums[some] / counts[some])

    def noise(self) -> float:
        """Return the squared standard error of the gap of decisions: its two noisiest groups'."""
        variances = self.rates * (1.0 - self.rates) / self.counts
        return float(np.sort(variances)[-2:].sum())


def _families(decided: Floats, y: Labels, groups: Groups) -> dict[str, list[_Rates]]:
    """Return the rates that every gap is made of, from sums of each group and label.

    Sums, because a mask of all rows for each of many groups is larger than the table.
    """
    cells, size = 2 * groups.codes + y, 2 * len(groups.labels)
    counts, sums = (
        np.bincount(cells, each, minlength=size).reshape(-1, 2).astype(np.float64)
        for each in (None, decided)
    )
    return {
        "demographic_parity": [_Rates.of(counts.sum(1), sums.sum(1))],
        "equalized_odds_sum": [_Rates.of(counts[:, label], sums[:, label]) for label in (1, 0)],
    }


def _gaps(families: Mapping[str, list[_Rates]]) -> dict[str, float]:
    return {name: float(sum(np.ptp(e.rates) for e in each)) for name, each in families.items()}
