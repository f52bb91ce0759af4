r"""The exact bound of one contrast of two rates.

Samples are ordered by their own box bound :math:`T`, and the rates :math:`q` that are kept are those
in the box with :math:`p(q) = P_q(T(X) \le T(x)) > \delta - \beta`. They contain the true rates
with probability at least :math:`1 - \delta` (Berger and Boos, 1994). Since ``p`` decreases in the first
rate and increases in the second, a whole cell :math:`a \le q_2 \le b` has no kept rates that are as
bad as a value ``v`` if :math:`p(q_1^*, b) \le \delta - \beta`, with :math:`q_1^*` the least first rate
that is as bad as ``v`` beside ``a``: one number decides a cell, and rejecting ``v`` is monotone in ``v``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairsmooth.core.contrasts.binomial import LEFT_OUT, CellSample
from fairsmooth.core.contrasts.contrast import Contrast
from fairsmooth.core.contrasts.divergences import Floats

_BISECTIONS = 44
# Cells of the second rate: 16, those that matter cut in 8, and again: as fine as 1,024.
_FIRST_CELLS = 16
_CUTS = (8, 8)

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
        return self.second.tails(second)[:, self.needed]

    def p_values(self, first: Floats, reached: Floats) -> Floats:
        """Return at least P(T(X) <= T(x)), one per row of ``reached``."""
        masses = self.first.probabilities(first)
        return np.einsum("ij,ij->i", masses, reached) * (1.0 + 1e-12) + 2.0 * LEFT_OUT


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


def _possible(
    region: Region, cells: _Cells, beside: Floats, asked: tuple[Contrast, float]
) -> NDArray[np.bool_]:
    """Tell which cells may hold kept rates as bad as asked; ``beside`` are their second rates."""
    contrast, value = asked
    low, high = region.first.box
    first = contrast.critical_first(beside, value)
    possible = first < high
    rates = np.clip(first[possible], low, high)
    values = region.p_values(rates, cells.reached[possible])
    possible[possible] = values > region.level
    return possible


def search(region: Region, question: Question, *, bad: float, good: float) -> float:
    """Return a ``t`` near the best that ``region`` proves, between ``bad`` and ``good``.

    ``question(t)`` is a contrast and a value; ``region`` rejects it if no kept rates are as
    bad. If it rejects at one ``t`` it does at every ``t`` nearer to ``good``. The result is
    ``good``, which the caller must have proved, or a ``t`` that every cell rejects;
    ``bad`` if that is rejected already.
    """
    cells = _uniform(region, *region.second.box, _FIRST_CELLS)
    for cuts in (*_CUTS, None):
        cells = cells.only(_possible(region, cells, cells.low, question(bad)))
        if not len(cells):
            return bad
        if cuts is None:
            break
        # What the upper edges alone cannot reject is out of reach however fine the cells.
        bad = _bisect(region, cells, cells.high, question, bad=bad, good=good)[0]
        cells = cells.only(_possible(region, cells, cells.low, question(bad)))
        if not len(cells):
            return bad
        cells = _cut(region, cells, cuts)
    return _bisect(region, cells, cells.low, question, bad=bad, good=good)[1]


def _bisect(
    region: Region, cells: _Cells, beside: Floats, question: Question, *, bad: float, good: float
) -> tuple[float, float]:
    """Halve between a ``t`` that some cell does not reject and one that all reject."""
    for _ in range(_BISECTIONS):
        middle = 0.5 * (bad + good)
        possible = _possible(region, cells, beside, question(middle))
        if possible.any():
            # The others reject here, so they reject at every later middle too.
            bad, cells, beside = middle, cells.only(possible), beside[possible]
        else:
            good = middle
        if abs(good - bad) <= 1e-7 * abs(good):
            break
    return bad, good
