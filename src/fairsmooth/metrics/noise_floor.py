"""How large a gap chance alone would show on a sample of this size."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

from fairsmooth._random import numpy_generator
from fairsmooth._types import Floats
from fairsmooth.data.groups import Groups
from fairsmooth.metrics.rates import RATES, cell_sums, group_rates_of, named_gaps

N_DRAWS = 4000
_MOST_LOOKED_UP = 1000
# A power of two: a number's step is exact.
_STEPS = 4096


@dataclass(frozen=True)
class NoiseFloor:
    """The gap of a perfectly fair classifier, on average and at its 95 % quantile."""

    mean: float
    quantile: float


def noise_floor(
    decisions: ArrayLike,
    y: NDArray[np.integer[Any]] | None,
    groups: Groups,
    *,
    n_draws: int = N_DRAWS,
    random_state: int = 0,
) -> dict[str, NoiseFloor]:
    """Return the gaps that chance alone would show, were all groups treated alike.

    A fair classifier has the same rates in every group: those measured over all
    groups together. On a sample with the counts at hand its gaps are still not
    0. They are simulated, ``n_draws`` times with a fixed seed: independent
    binomial counts per group, with the sample's numbers of rows, of positive and
    of negative rows, and the pooled rates. A measured gap below the 95 %
    quantile cannot be told from none by this sample.

    Returns
    -------
    dict
        :class:`NoiseFloor` for ``demographic_parity``, ``equalized_odds_sum`` and
        ``equalized_odds_max``; NaN where fewer than two groups have the rate. Without
        labels (``y=None``) for the first alone.

    References
    ----------
    No counterpart in the paper, which prints gaps without their noise.
    """
    rates = group_rates_of(decisions, y, groups)
    counts, _ = cell_sums(decisions, np.zeros_like(groups.codes) if y is None else y, groups)
    generator = numpy_generator(random_state, "noise_floor")
    drawn = []
    for name, rows in zip(RATES, (counts.sum(axis=1), counts[:, 1], counts[:, 0]), strict=False):
        if name not in rates:
            continue
        pooled = float(np.nan_to_num(rates[name][-1]))
        drawn.append(_gaps(generator, rows.astype(np.int64).tolist(), pooled, n_draws))
    return {
        name: NoiseFloor(float(gaps.mean()), float(np.quantile(gaps, 0.95)))
        for name, gaps in named_gaps(*drawn).items()
    }


def _gaps(generator: np.random.Generator, trials: list[int], rate: float, n_draws: int) -> Floats:
    """Draw counts of every group, and return largest minus smallest share, draw by draw.

    NaN where fewer than two groups have rows.
    """
    lowest, highest = np.full(n_draws, np.inf), np.full(n_draws, -np.inf)
    for count, hits in zip(trials, _drawn(generator, trials, rate, n_draws), strict=True):
        if count:
            shares = hits / count
            np.minimum(lowest, shares, out=lowest)
            np.maximum(highest, shares, out=highest)
    return highest - lowest if np.count_nonzero(trials) > 1 else np.full(n_draws, np.nan)


def _drawn(
    generator: np.random.Generator, trials: list[int], rate: float, n_draws: int
) -> Iterator[NDArray[np.int64]]:
    """Draw binomial counts, one group after another.

    Counts of few trials are looked up in the table of their probabilities: of hundreds of small
    groups NumPy's own way took longer than all the rest of an audit.
    """
    tables: dict[int, _Table] = {}
    for count in trials:
        if count > _MOST_LOOKED_UP:
            yield generator.binomial(count, rate, n_draws)
            continue
        if count not in tables:
            tables[count] = _Table.of(bdtr(np.arange(count), count, rate))
        yield tables[count].reached(generator.random(n_draws))


@dataclass(frozen=True, eq=False)
class _Table:
    """An increasing table, and what of it is known of each step that [0, 1) is cut into.

    Attributes
    ----------
    entries : ndarray
        The table: it has few entries beside the steps.
    before : ndarray of shape (steps,)
        How many entries a step's beginning reaches.
    broken : ndarray of shape (steps,)
        Whether an entry lies inside the step; only there is the table searched.
    """

    entries: Floats
    before: NDArray[np.intp]
    broken: NDArray[np.bool_]

    @classmethod
    def of(cls, entries: Floats) -> "_Table":
        # How many are at most each step's edge: an entry is reached from the next edge on.
        edges = np.ceil(entries * _STEPS).astype(np.intp)
        at_steps = np.cumsum(np.bincount(edges, minlength=_STEPS + 1))
        return cls(entries, at_steps[:-1], at_steps[1:] > at_steps[:-1])

    def reached(self, drawn: Floats) -> NDArray[np.intp]:
        """Return how many entries each number in [0, 1) reaches."""
        step = (drawn * _STEPS).astype(np.intp)
        found = self.before.take(step)
        unsure = self.broken.take(step).nonzero()[0]
        found[unsure] = self.entries.searchsorted(drawn[unsure], side="right")
        return found
