r"""The exact bound of one contrast of two rates.

Samples are ordered by their own box bound :math:`T`, and the rates :math:`q` that are kept are
those in the box with :math:`p(q) = P_q(T(X) \le T(x)) > \delta - \beta`. They contain the true
rates with probability at least :math:`1 - \delta` (Berger and Boos, 1994). Since ``p`` decreases in
the first rate and increases in the second, a whole cell :math:`a \le q_2 \le b` has no kept rates
as bad as a value ``v`` if :math:`p(q_1^*, b) \le \delta - \beta`, with :math:`q_1^*` the least
first rate as bad as ``v`` beside ``a``: one number decides a cell, and what is rejected
at one ``v`` is rejected at every worse one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fairsmooth._types import Floats
from fairsmooth.core.contrasts.binomial import LEFT_OUT, CellSample
from fairsmooth.core.contrasts.contrast import Contrast

_STEPS = 60
_BLOCK = 64
# How near a search comes, relative: roughly where to look, and the result.
_ROUGH, _FINE = 1e-4, 1e-7
# Cells of the second rate: 16, those that matter cut in 16, and again in 4: as fine as 1,024.
_FIRST_CELLS = 16
_CUTS = (16, 4)

Question = Callable[[float], tuple[Contrast, float]]


@dataclass(frozen=True)
class Region:
    """The rates that the sample leaves possible, for one order of samples.

    Attributes
    ----------
    first, second : CellSample
        The two cells.
    order : Contrast
        Whose box bound orders samples.
    observed : float
        That bound for the observed sample.
    level : float
        Rates with a p-value of at most this are rejected.
    """

    first: CellSample
    second: CellSample
    order: Contrast
    observed: float
    level: float

    @cached_property
    def needed(self) -> NDArray[np.intp]:
        """For every first count of the window, where the second counts begin that are no worse."""
        return self.order.no_worse(self.first.upper, self.second.lower, self.observed)

    def reached(self, second: Floats) -> Floats:
        """Return P(second count >= needed) for every first count, one row per second rate."""
        # A few rates at a time: of large cells, a row of tails has thousands of entries.
        found = np.empty((len(second), len(self.needed)))
        for start in range(0, len(second), _BLOCK):
            rows = slice(start, start + _BLOCK)
            found[rows] = self.second.tails(second[rows])[:, self.needed]
        return found

    def p_values(self, first: Floats, reached: Floats) -> Floats:
        """Return at least P(T(X) <= T(x)), one per row of ``reached``.

        Rates come in order, so that a block of them needs only a part of the window.
        """
        found = np.empty(len(first))
        for start in range(0, len(first), _BLOCK):
            rows = slice(start, start + _BLOCK)
            columns = self.first.columns(first[rows])
            masses = self.first.probabilities(first[rows], columns)
            found[rows] = np.einsum("ij,ij->i", masses, reached[rows, columns])
        return found * (1.0 + 1e-12) + 2.0 * LEFT_OUT


@dataclass(frozen=True)
class _Cells:
    """Cells of the second rate, each with what its upper edge makes of every first count."""

    low: Floats
    high: Floats
    reached: Floats

    def __len__(self) -> int:
        return len(self.low)

    def only(self, keep: NDArray[np.bool_]) -> "_Cells":
        return _Cells(self.low[keep], self.high[keep], self.reached[keep])


def _uniform(region: Region, low: float, high: float, n: int) -> _Cells:
    edges = np.linspace(low, high, n + 1)
    edges[0], edges[-1] = low, high
    return _Cells(edges[:-1], edges[1:], region.reached(edges[1:]))


def _cut(region: Region, cells: _Cells, parts: int) -> _Cells:
    share = np.arange(parts + 1) / parts
    edges = cells.low[:, None] + (cells.high - cells.low)[:, None] * share
    edges[:, -1] = cells.high
    high = edges[:, 1:].ravel()
    return _Cells(edges[:, :-1].ravel(), high, region.reached(high))


def _p_values(
    region: Region, cells: _Cells, beside: Floats, asked: tuple[Contrast, float]
) -> Floats:
    """Return the largest p-value, cell by cell, of rates as bad as asked; 0 outside the box.

    ``beside`` are the second rates that the critical first rates belong to.
    """
    contrast, value = asked
    low, high = region.first.box
    first = contrast.critical_first(beside, value)
    inside = first < high
    found = np.zeros(len(cells))
    rates = np.clip(first[inside], low, high)
    found[inside] = region.p_values(rates, cells.reached[inside])
    return found


def _open(region: Region, cells: _Cells, asked: tuple[Contrast, float]) -> _Cells:
    """Return the cells that do not reject what is asked."""
    return cells.only(_p_values(region, cells, cells.low, asked) > region.level)


def rejects(region: Region, asked: tuple[Contrast, float]) -> bool:
    """Tell whether no kept rates are as bad as asked: one test instead of a search."""
    cells = _open(region, _uniform(region, *region.second.box, _FIRST_CELLS), asked)
    for cuts in _CUTS:
        if len(cells):
            cells = _open(region, _cut(region, cells, cuts), asked)
    return not len(cells)


def search(region: Region, question: Question, *, bad: float, good: float) -> float:
    """Return a ``t`` near the best that ``region`` proves, between ``bad`` and ``good``.

    ``question(t)`` is a contrast and a value; ``region`` rejects it if no kept rates are as
    bad. If it rejects at one ``t`` it does at every ``t`` nearer to ``good``. The result is
    ``good``, which the caller must have proved, or a ``t`` that every cell rejects;
    ``bad`` if that is rejected already.
    """
    cells = _open(region, _uniform(region, *region.second.box, _FIRST_CELLS), question(bad))
    if not len(cells):
        return bad
    # What the upper edges alone cannot reject is out of reach however fine the cells.
    bad, _ = _close_in(
        region, cells, cells.high, question, bad=bad, good=good, start=0.5, to=_ROUGH
    )
    for cuts in _CUTS:
        cells = _open(region, _cut(region, cells, cuts), question(bad))
        if not len(cells):
            return bad
    # Cells this fine cost little, so the answer is much nearer to ``bad``.
    return _close_in(
        region, cells, cells.low, question, bad=bad, good=good, start=1.0 / 128.0, to=_FINE
    )[1]


def _close_in(
    region: Region,
    cells: _Cells,
    beside: Floats,
    question: Question,
    *,
    bad: float,
    good: float,
    start: float,
    to: float,
) -> tuple[float, float]:
    """Close in on where the cells begin to reject: the last ``t`` not rejected, the first that is.

    By false position in the normal quantile of the largest p-value, which is nearly linear
    in ``t``; every fourth step halves, so that it always ends.
    """
    target = ndtri(region.level)
    above = below = 0.0  # how far the largest p-value is from the level, where it is known
    for step in range(_STEPS):
        if abs(good - bad) <= to * abs(good):
            break
        known = above > 0.0 > below and step % 4
        share = min(max(above / (above - below), 0.01), 0.99) if known else 0.5
        middle = bad + (good - bad) * (share if step else start)
        values = _p_values(region, cells, beside, question(middle))
        possible = values > region.level
        height = float(ndtri(np.clip(values.max(), 1e-12, 1.0 - 1e-12)) - target)
        if possible.any():
            # The others reject here, so they reject at every later ``t`` too.
            bad, cells, beside = middle, cells.only(possible), beside[possible]
            above, below = height, 0.5 * below
        else:
            good = middle
            above, below = 0.5 * above, min(height, -1e-12)
    return bad, good
