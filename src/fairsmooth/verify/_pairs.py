"""Whether two cells' counts prove a value of a contrast: p-values again, cell by cell."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from fairsmooth.verify._binomial import PRECISION, Binomial, Floats, Window, down, exact, up
from fairsmooth.verify._shifts import Shift

_FIRST_CELLS = 64
_HALVINGS = 7
_BISECTIONS = 60
_SUM_UNITS = 4.0 * 2.0**-53
# Probabilities held at once, of 8 bytes.
_ENTRIES = 1 << 21


@dataclass(frozen=True)
class Question:
    """Is the contrast never worse than a value? Gaps are worse above it, ratios below."""

    ratio: bool
    shift: Shift
    value: float

    def worst(self, first: float, second: float) -> arb:
        """Enclose the contrast of two rates."""
        with ctx.workprec(PRECISION):
            up_, down_ = self.shift.rise(arb(first)), self.shift.fall(arb(second))
            if not self.ratio:
                return up_ - down_
            return down_ / up_ if up_ > 0 else arb(1)

    def kept(self, first: float, second: float) -> bool:
        """Tell whether the contrast of two rates is surely no worse than the value."""
        worst = self.worst(first, second)
        return bool(worst >= arb(self.value) if self.ratio else worst <= arb(self.value))

    def critical_first(self, second: float) -> float | None:
        """Return the least first rate, or less, that is as bad beside ``second``; None if none."""
        with ctx.workprec(PRECISION):
            fall = self.shift.fall(arb(second))
            if self.ratio and self.value == 0.0:
                return None
            target = fall / arb(self.value) if self.ratio else fall + arb(self.value)
            if target >= 1:
                return None
            inside = target.max(arb(0)).min(arb(1))
            return max(0.0, down(self.shift.rise_inverse(inside)))


@dataclass(frozen=True)
class Pair:
    """Two cells at one error; the first makes the contrast worse when its rate grows."""

    first: Binomial
    second: Binomial
    error: Fraction

    @property
    def level(self) -> Fraction:
        """What p-values must not exceed: the error less a fiftieth for the box."""
        return self.error * Fraction(49, 50)

    @cached_property
    def windows(self) -> tuple[Window, Window]:
        """Both cells with the boxes of their rates: four ends share a fiftieth of the error."""
        share = self.error / 50 / 4
        first, second = self.first, self.second
        return Window(first, first.interval(share)), Window(second, second.interval(share))

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The ends that order the observed sample: at least the upper, at most the lower."""
        share = self.level / 2
        return self.first.interval(share)[1], self.second.interval(share)[0]

    def proves(self, asked: Question) -> bool:
        """Tell whether no kept rates are worse than asked, with samples ordered by the contrast."""
        if asked.kept(*self.ends):
            return True  # the box bound itself; the exact bound never exceeds it
        observed = asked.worst(*self.ends)
        value = down(observed) if asked.ratio else up(observed)
        order = Question(asked.ratio, asked.shift, max(0.0, value) if asked.ratio else value)
        return self._rejects(asked, order)

    def proves_radius(self, asked: Question) -> bool:
        """As :meth:`proves`, with samples ordered by the radius that their boxes prove."""
        if asked.kept(*self.ends):
            return True
        largest = self._box_radius(asked)
        if largest is None:
            plain = Question(asked.ratio, Shift(), asked.value)
            observed = plain.worst(*self.ends)
            order = Question(asked.ratio, Shift(), down(observed) if asked.ratio else up(observed))
        else:
            order = Question(asked.ratio, Shift(asked.shift.divergence, largest), asked.value)
        return self._rejects(asked, order)

    def _box_radius(self, asked: Question) -> float | None:
        """Return at most the largest radius that the boxes prove, less than the one asked."""

        def kept(radius: float) -> bool:
            shift = Shift(asked.shift.divergence, radius)
            return Question(asked.ratio, shift, asked.value).kept(*self.ends)

        if not kept(0.0):
            return None
        low, high = 0.0, asked.shift.radius
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if kept(middle) else (low, middle)
        return low

    def _needed(self, order: Question) -> NDArray[np.intp]:
        """For each first count, where the second counts begin that are no worse, or before."""
        first, second = self.windows
        share = self.level / 2
        with ctx.workprec(PRECISION):
            value = arb(order.value)
            rises = [order.shift.rise(arb(u)) for u in first.upper_ends(share).tolist()]
            needed = [down(r * value if order.ratio else r - value) for r in rises]
            falls = [up(order.shift.fall(arb(v))) for v in second.lower_ends(share).tolist()]
        found = np.searchsorted(np.maximum.accumulate(falls), needed, side="left")
        return np.minimum.accumulate(found[::-1])[::-1]

    def _rejects(self, asked: Question, order: Question) -> bool:
        needed = self._needed(order)
        low, high = self.windows[1].box
        edges = np.linspace(low, high, _FIRST_CELLS + 1)
        edges[0], edges[-1] = low, high
        lows, highs = edges[:-1], edges[1:]
        for _ in range(_HALVINGS):
            # What is no number proves nothing.
            undecided = ~(self._p_values(asked, needed, lows, highs) <= self._allowed)
            if not undecided.any():
                return True
            lows, highs = lows[undecided], highs[undecided]
            # Rates as bad as asked that are kept at an upper edge stay there in smaller cells.
            if (self._p_values(asked, needed, highs, highs) > self._allowed).any():
                return False
            middles = 0.5 * (lows + highs)
            lows, highs = np.append(lows, middles), np.append(middles, highs)
        return False

    @property
    def _allowed(self) -> float:
        return down(exact(self.level))

    def _p_values(
        self, asked: Question, needed: NDArray[np.intp], beside: Floats, highs: Floats
    ) -> Floats:
        """Return the largest p-values, cell by cell, of rates worse than asked; 0 outside the box.

        ``beside`` are the second rates that the critical first rates belong to.
        """
        box = self.windows[0].box
        found = [asked.critical_first(float(rate)) for rate in beside]
        critical = np.array([np.inf if rate is None else rate for rate in found])
        values = np.zeros(len(highs))
        inside = np.flatnonzero(critical < box[1])
        # Rows of probabilities are as long as the windows: few of them at a time.
        size = max(1, _ENTRIES // max(len(window.counts) for window in self.windows))
        for start in range(0, len(inside), size):
            some = inside[start : start + size]
            values[some] = self._p_values_at(
                needed, np.maximum(box[0], critical[some]), highs[some]
            )
        return values

    def _p_values_at(self, needed: NDArray[np.intp], rates: Floats, highs: Floats) -> Floats:
        """Return at least the chance of samples no worse than the observed one, pair by pair."""
        first, second = self.windows
        masses, beneath, beyond = first.masses(rates)
        reached = second.tails(highs)[:, needed]
        values = np.einsum("ij,ij->i", masses, reached) * (1.0 + _SUM_UNITS * (len(needed) + 8.0))
        found: Floats = (values + beneath + beyond) * (1.0 + _SUM_UNITS)
        return found
