"""Bounds over all ordered pairs of cells: gaps, ratios, and how much shift they survive."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations

import numpy as np

from fairsmooth.core.contrasts.binomial import CellSample
from fairsmooth.core.contrasts.contrast import Contrast
from fairsmooth.core.contrasts.pair import Region, rejects, search

Count = tuple[int, int]

# The share of the error spent on the box that the rates are searched in (Berger and Boos).
BOX_SHARE = 1.0 / 50.0


def bound(counts: Sequence[Count], contrast: Contrast, *, error: float) -> float:
    r"""Bound the worst contrast over all ordered pairs of cells.

    For a gap: with probability at least ``1 - error`` over independent samples of the cells,
    :math:`\max_{k,l} \psi(q_k, q_l)` is at most the result, whatever the rates. For a ratio, the
    least ratio is at least the result. The worst pair is one fixed pair that does not depend
    on the sample, so the number of cells costs nothing.

    Parameters
    ----------
    counts : sequence of (positive, rows)
        The cells. One without rows gives the worst value there is.
    contrast : Contrast
        Gap or ratio, and after which shift.
    error : float
        The probability that the bound may fail.

    Examples
    --------
    >>> round(bound([(100, 400), (80, 500)], Contrast(), error=0.05), 4)
    0.1381
    """
    worst = 0.0 if contrast.ratio else 1.0
    best = 1.0 - worst
    if any(trials == 0 for _, trials in counts):
        return worst
    level, samples = _samples(counts, error)
    result = best
    # Worst boxes first: the later pairs need only be shown to be no worse.
    for first, second, box in _worst_first(samples, contrast):
        if _no_worse(box, result, contrast):
            break
        region = Region(first, second, contrast, box, level)
        # The box bound itself is proved: no sample's exact bound exceeds it (Buehler, 1957).
        result = search(region, lambda t: (contrast, t), bad=result, good=box)
    return result


def proves(counts: Sequence[Count], contrast: Contrast, value: float, *, error: float) -> bool:
    """Tell whether :func:`bound` is no worse than ``value``, by one test of each pair.

    Examples
    --------
    >>> [proves([(100, 400), (80, 500)], Contrast(), v, error=0.05) for v in (0.13, 0.14)]
    [False, True]
    """
    if any(trials == 0 for _, trials in counts):
        return value <= 0.0 if contrast.ratio else value >= 1.0
    level, samples = _samples(counts, error)
    for first, second, box in _worst_first(samples, contrast):
        if _no_worse(box, value, contrast):
            break
        if not rejects(Region(first, second, contrast, box, level), (contrast, value)):
            return False
    return True


def radius(counts: Sequence[Count], contrast: Contrast, limit: float, *, error: float) -> float:
    r"""Bound from below the radius within which every pair keeps the limit.

    With probability at least ``1 - error``, the contrast of every pair of cells keeps
    ``limit`` in every population within the result of the sampled one, in the contrast's
    divergence and cell by cell. Bounds at several radii come from several regions and need not be
    monotone, so the radius has an order of its own: samples are ordered by the radius that their
    boxes prove, and where boxes prove none, by the unshifted contrast. Returns 0 if nothing is
    proved.

    Examples
    --------
    >>> round(radius([(100, 400), (80, 500)], Contrast(), 0.2, error=0.05), 3)
    0.031
    """
    if any(trials == 0 for _, trials in counts):
        return 0.0
    level, samples = _samples(counts, error)
    pairs = []
    for first, second in permutations(samples, 2):
        box = contrast.radius_within(first.ends[1], second.ends[0], limit)
        pairs.append((first, second, box))
    pairs.sort(key=lambda pair: pair[2])
    result = contrast.divergence.largest
    for first, second, box in pairs:
        if box >= result:
            break
        result = _pair_radius(first, second, contrast, limit, box=box, level=level, best=result)
        if result <= 0.0:
            return 0.0
    return result


def _worst_first(
    samples: Sequence[CellSample], contrast: Contrast
) -> Iterator[tuple[CellSample, CellSample, float]]:
    """Yield all ordered pairs of cells with their box bounds, the worst bound first."""
    lower, upper = np.array([sample.ends for sample in samples]).T
    boxes = contrast.worst_values(upper[:, None], lower)
    # A cell beside itself is no pair, and comes after all pairs.
    np.fill_diagonal(boxes, np.inf if contrast.ratio else -np.inf)
    order = np.argsort(boxes if contrast.ratio else -boxes, axis=None, kind="stable")
    for place in order[: len(samples) * (len(samples) - 1)].tolist():
        first, second = divmod(place, len(samples))
        yield samples[first], samples[second], float(boxes[first, second])


def _pair_radius(
    first: CellSample,
    second: CellSample,
    contrast: Contrast,
    limit: float,
    *,
    box: float,
    level: float,
    best: float,
) -> float:
    if box >= 0.0:
        region = Region(first, second, contrast.at(box), limit, level)
        proved = box
    else:
        order = contrast.at(0.0)
        region = Region(first, second, order, order.worst(first.ends[1], second.ends[0]), level)
        # No radius is proved yet: -1 stands for none, and 0 has to be proved.
        proved = -1.0
    return search(region, lambda t: (contrast.at(max(0.0, t)), limit), bad=best, good=proved)


def _samples(counts: Sequence[Count], error: float) -> tuple[float, list[CellSample]]:
    """Return the level of the p-values and the cells; half the level orders each end."""
    box_error = error * BOX_SHARE
    level = error - box_error
    # Two ends for each of two cells share the error of the box.
    samples = [_sample(int(x), int(n), level / 2.0, box_error / 4.0) for x, n in counts]
    return level, samples


@lru_cache(maxsize=64)
def _sample(successes: int, trials: int, error: float, box_error: float) -> CellSample:
    # One guarantee asks several questions of the same cells, whose interval ends cost the most.
    return CellSample(successes, trials, error, box_error)


def _no_worse(value: float, than: float, contrast: Contrast) -> bool:
    return value >= than if contrast.ratio else value <= than
