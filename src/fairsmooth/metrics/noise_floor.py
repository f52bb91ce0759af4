"""How large a gap chance alone would show on a sample of this size."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

from fairsmooth._random import numpy_generator
from fairsmooth._types import Floats
from fairsmooth.data.groups import Groups
from fairsmooth.metrics.rates import RATES, cell_sums, group_rates_of, named_gaps, rate_range

N_DRAWS = 4000
_MOST_LOOKED_UP = 1000
# A power of two: a number's step is exact.
_STEPS = 1024


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
        pooled = np.nan_to_num(rates[name][-1])
        hits = _drawn(generator, rows.astype(np.int64), float(pooled), n_draws)
        undefined = np.full(hits.shape, np.nan)
        drawn.append(rate_range(np.divide(hits, rows, out=undefined, where=rows > 0)))
    return {
        name: NoiseFloor(float(gaps.mean()), float(np.quantile(gaps, 0.95)))
        for name, gaps in named_gaps(*drawn).items()
    }


def _drawn(
    generator: np.random.Generator, trials: NDArray[np.int64], rate: float, n_draws: int
) -> NDArray[np.int64]:
    """Draw binomial counts ``(n_draws, K)``, one group after another.

    Counts of few trials are looked up in the table of their probabilities: of hundreds of small
    groups NumPy's own way took longer than all the rest of an audit.
    """
    hits = np.empty((n_draws, len(trials)), dtype=np.int64)
    for group, count in enumerate(trials.tolist()):
        if count > _MOST_LOOKED_UP:
            hits[:, group] = generator.binomial(count, rate, n_draws)
            continue
        hits[:, group] = _looked_up(bdtr(np.arange(count), count, rate), generator.random(n_draws))
    return hits


def _looked_up(table: Floats, drawn: Floats) -> NDArray[np.intp]:
    """Return how many entries of an increasing table each number in [0, 1) reaches.

    A table has few entries beside the steps that [0, 1) is cut into: only in steps with an
    entry inside is it searched.
    """
    at_steps = np.searchsorted(table, np.arange(_STEPS + 1) / _STEPS, side="right")
    step = (drawn * _STEPS).astype(np.intp)
    found = at_steps[step]
    unsure = np.flatnonzero(at_steps[step + 1] > found)
    found[unsure] = np.searchsorted(table, drawn[unsure], side="right")
    return found
