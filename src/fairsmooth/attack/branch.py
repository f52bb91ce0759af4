"""Branch and bound: the maximum of a contrast over its sphere, with a proof."""

import time

import numpy as np
from scipy.optimize import minimize

from fairsmooth._types import Floats
from fairsmooth.attack.contrast import Cells, Contrast

_LATITUDES, _LONGITUDES = 32, 48
# Cells cut at once, those with the largest bounds first, and cells ever looked at.
_BATCH, _MOST = 4096, 20_000
# Cells in which no more than this can be gained are not looked into.
_RELATIVE, _ABSOLUTE = 1e-3, 1e-13
_POLISHED = 2


def maximise(contrast: Contrast, *, deadline: float) -> tuple[Floats, float, float]:
    """Return latitude and longitude of the maximum, its value, and a bound on all values.

    Cells are cut in two until no bound exceeds the best value by more than a thousandth,
    or the time is over: the bound holds in either case, to the rounding of float64.
    """
    cells = contrast.cells(_LATITUDES, _LONGITUDES)
    bounds = contrast.bounds(cells)
    best, place = _polish(contrast, cells)
    settled, looked_at = 0.0, len(cells)
    while True:
        open_ = bounds > best * (1.0 + _RELATIVE) + _ABSOLUTE
        settled = max(settled, float(bounds[~open_].max(initial=0.0)))
        cells, bounds = cells.take(open_), bounds[open_]
        if not len(cells) or looked_at > _MOST or time.monotonic() > deadline:
            break
        cells, bounds, cut = _cut(contrast, cells, bounds)
        looked_at += len(cut)
        value, found = _polish(contrast, cut, least=best)
        if value > best:
            best, place = value, found
    return place, best, max(best, settled, float(bounds.max(initial=0.0)))


def _cut(contrast: Contrast, cells: Cells, bounds: Floats) -> tuple[Cells, Floats, Cells]:
    """Replace the cells with the largest bounds by their halves; return those as well."""
    order = np.argsort(-bounds)
    first, rest = order[:_BATCH], order[_BATCH:]
    chosen = cells.take(first)
    cut = chosen.halves(contrast.across_latitude(chosen))
    # What bounds a cell bounds its halves.
    halved = np.minimum(contrast.bounds(cut), np.tile(bounds[first], 2))
    return cells.take(rest).join(cut), np.concatenate([bounds[rest], halved]), cut


def _polish(contrast: Contrast, cells: Cells, *, least: float = -1.0) -> tuple[float, Floats]:
    """Climb from the best centres if they are better than what is known."""
    values = contrast.values(cells.latitude, cells.longitude)
    best, place = least, np.zeros(2)
    for row in np.argsort(-values)[:_POLISHED]:
        if values[row] <= best:
            continue
        start = np.array([cells.latitude[row], cells.longitude[row]])
        steps = np.diag([cells.half_latitude[row], cells.half_longitude[row]])
        found = minimize(
            lambda at: -contrast.values(at[:1], at[1:])[0],
            start,
            method="Nelder-Mead",
            options={
                "initial_simplex": np.vstack([start, start + steps]),
                "xatol": 1e-13,
                "fatol": 1e-9 * max(values[row], 1e-300),
                "maxfev": 400,
            },
        )
        best, place = -float(found.fun), found.x
    return best, place
