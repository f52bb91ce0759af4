"""Limits on the gaps of hard decisions, judged from counts of positive decisions."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fairsmooth._types import Floats

# What each name of ``parity`` limits, and which of the two tolerances is its limit.
SELECTION, CONDITIONAL = 0, 1
NAMES: Mapping[str, tuple[tuple[str, int], ...]] = {
    "demographic_parity": (("demographic_parity", SELECTION),),
    "equalized_odds": (("equalized_odds_sum", CONDITIONAL),),
    "equalized_odds_max": (("equalized_odds_max", CONDITIONAL),),
    "equal_opportunity": (("equal_opportunity", CONDITIONAL),),
    "impact_ratio": (("impact_ratio", SELECTION),),
    "both": (("demographic_parity", SELECTION), ("equalized_odds_sum", CONDITIONAL)),
}
# The rates that groups are compared by: the labels of the rows that each is a share of.
RATE_LABELS: Mapping[str, tuple[int, ...]] = {"selection": (0, 1), "true": (1,), "false": (0,)}
# Every quantity as sums of gaps of these rates, the largest of which is limited; the ratio is one
# of selection rates.
RATES_OF: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "demographic_parity": (("selection",),),
    "equal_opportunity": (("true",),),
    "predictive_equality": (("false",),),
    "equalized_odds_sum": (("true", "false"),),
    "equalized_odds_max": (("true",), ("false",)),
    "impact_ratio": (("selection",),),
}


@dataclass(frozen=True, eq=False)
class GapLimits:
    """How large the gaps of decisions may be, on rows with known counts.

    Attributes
    ----------
    limits : mapping
        By name: ``demographic_parity``, ``equal_opportunity``, ``predictive_equality``,
        ``equalized_odds_sum`` and ``equalized_odds_max`` bound a gap from above;
        ``impact_ratio`` bounds the smallest selection rate over the largest from below.
    counts : ndarray of shape (K, 2)
        Rows of every group with label 0 and with label 1. A group without rows of a label has
        no rate there and takes no part in its gap.
    """

    limits: Mapping[str, float]
    counts: Floats = field(repr=False)

    def gaps(self, hits: Floats) -> dict[str, Floats]:
        """Return the limited quantities, for positive decisions by cell, shape (..., K, 2).

        Where nobody is selected the ratio is 0: there is nothing to compare.

        Examples
        --------
        >>> limits = GapLimits({"demographic_parity": 0.1}, np.array([[2.0, 2.0], [1.0, 1.0]]))
        >>> float(limits.gaps(np.array([[1.0, 2.0], [0.0, 0.0]]))["demographic_parity"])
        0.75
        """
        return {name: _quantity(name, self.counts, hits) for name in self.limits}

    def excess(self, hits: Floats) -> Floats:
        """Return by how much the limits are exceeded, added up; 0 where all are kept."""
        total = np.zeros(hits.shape[:-2])
        for name, gap in self.gaps(hits).items():
            over = self.limits[name] - gap if name == "impact_ratio" else gap - self.limits[name]
            total += np.maximum(over, 0.0)
        return total

    def correct(self, hits: Floats) -> Floats:
        """Return how many rows are decided as labelled."""
        return np.asarray(self.counts[:, 0].sum() + (hits[..., 1] - hits[..., 0]).sum(axis=-1))


def limits_of(parity: str, tolerance: tuple[float, float]) -> dict[str, float]:
    """Return the limits that a name of ``parity`` and two tolerances stand for.

    The first tolerance is that of selection rates: their largest gap, or for "impact_ratio" how
    far the ratio may fall short of 1. The second is that of rates among rows of one label.

    Examples
    --------
    >>> limits_of("both", (0.05, 0.08))
    {'demographic_parity': 0.05, 'equalized_odds_sum': 0.08}
    >>> limits_of("impact_ratio", (0.2, 0.0))
    {'impact_ratio': 0.8}
    """
    chosen = {name: float(tolerance[which]) for name, which in NAMES[parity]}
    return {
        name: 1.0 - value if name == "impact_ratio" else value for name, value in chosen.items()
    }


def _quantity(name: str, counts: Floats, hits: Floats) -> Floats:
    if name == "impact_ratio":
        return _ratio(_rates("selection", counts, hits))
    gaps = [[_spread(_rates(rate, counts, hits)) for rate in pair] for pair in RATES_OF[name]]
    return np.asarray(np.max([np.sum(each, axis=0) for each in gaps], axis=0))


def _rates(name: str, counts: Floats, hits: Floats) -> Floats:
    """Return the rate of every group that has one, shape (..., G)."""
    labels = RATE_LABELS[name]
    size = counts[:, labels].sum(axis=-1)
    return np.asarray(hits[..., labels].sum(axis=-1)[..., size > 0] / size[size > 0])


def _spread(rates: Floats) -> Floats:
    if rates.shape[-1] == 0:
        return np.zeros(rates.shape[:-1])
    return np.asarray(rates.max(axis=-1) - rates.min(axis=-1))


def _ratio(rates: Floats) -> Floats:
    largest = rates.max(axis=-1)
    ratio = np.zeros(largest.shape)
    np.divide(rates.min(axis=-1), largest, out=ratio, where=largest > 0.0)
    return ratio
