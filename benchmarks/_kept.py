"""Whether the true rates of two cells are kept by a sample, from scipy's quantiles alone.

A bound is the worst value of the rates that its sample keeps: those in a box whose p-value exceeds
the level. Where the true rates are kept, no bound may be better than the truth. This is
computed here for all draws at once, without the algorithm that the library bounds with.
"""

import numpy as np
from scipy.stats import beta, binom

from fairsmooth.core.contrasts import Contrast

BOX_SHARE = 1.0 / 50.0
# Far below every probability that decides, far above rounding.
TINY = 1e-11


def kept(
    samples: np.ndarray,
    sizes: tuple[int, int],
    rates: tuple[float, float],
    contrast: Contrast,
    *,
    error: float,
) -> np.ndarray:
    """Tell for every draw of two cells whether it surely keeps the true rates."""
    level, box_error = error * (1.0 - BOX_SHARE), error * BOX_SHARE / 4.0
    windows = [_window(n, q) for n, q in zip(sizes, rates, strict=True)]
    upper = _end(windows[0], sizes[0], level / 2.0, upper=True)
    lower = _end(windows[1], sizes[1], level / 2.0, upper=False)
    up = np.asarray(contrast.divergence.rise(upper, contrast.radius))[:, None]
    down = np.asarray(contrast.divergence.fall(lower, contrast.radius))[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = 1.0 - np.where(up > 0.0, down / up, 1.0) if contrast.ratio else up - down
    worst = np.clip(worst, 0.0, 1.0)
    mass = np.multiply.outer(
        *(binom.pmf(w, n, q) for w, n, q in zip(windows, sizes, rates, strict=True))
    )
    order = np.argsort(worst, axis=None)
    reached = np.concatenate([[0.0], np.cumsum(mass.ravel()[order])])
    first, second = (np.clip(samples[:, k] - w[0], 0, len(w) - 1) for k, w in enumerate(windows))
    # Ties are left out but for the sample itself: at most the p-value.
    before = np.searchsorted(worst.ravel()[order], worst[first, second] - TINY)
    p_values = reached[before] + mass[first, second]
    inside = np.ones(len(samples), dtype=bool)
    for k, (n, q) in enumerate(zip(sizes, rates, strict=True)):
        low = _end(samples[:, k], n, box_error, upper=False)
        high = _end(samples[:, k], n, box_error, upper=True)
        inside &= (low + TINY < q) & (q < high - TINY)
    return inside & (p_values > level + TINY)


def _window(n: int, q: float) -> np.ndarray:
    """Return the counts that have all but 1e-13 of the probability."""
    return np.arange(int(binom.ppf(5e-14, n, q)), int(binom.isf(5e-14, n, q)) + 1)


def _end(hits: np.ndarray, n: int, error: float, *, upper: bool) -> np.ndarray:
    if upper:
        return np.where(hits < n, beta.isf(error, hits + 1, np.maximum(n - hits, 0.5)), 1.0)
    return np.where(hits > 0, beta.ppf(error, np.maximum(hits, 0.5), n - hits + 1), 0.0)
