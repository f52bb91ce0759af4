"""Binomial probabilities with proved errors.

One probability per rate is enclosed by ball arithmetic; its neighbours follow by the exact
ratios of consecutive probabilities. Everything is positive, so a product of ``m`` float64 factors
is off by a factor of at most ``1 + 4m`` units, and so is a sum of ``m`` terms in any order: no
library's accuracy is trusted. What lies outside the window is bounded by a geometric series.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PRECISION = 128
_UNIT = 2.0**-53
# How far beyond its mean, in standard deviations and in counts, the window reaches.
_REACH, _EXTRA = 8.0, 40.0
# Quantiles from scipy are hints; they are moved by this much and then proved.
_HINT = 1e-9


def _quantile(a: Any, b: Any, error: float, *, upper: bool) -> Any:
    """Return a quantile of the beta distribution, as a hint only."""
    # Loaded when asked for: verifying a certificate should not wait for scipy.
    from scipy.special import betainccinv, betaincinv

    return betainccinv(a, b, error) if upper else betaincinv(a, b, error)


def up(ball: arb) -> float:
    """Return a float64 that is at least every point of the ball."""
    return math.nextafter(float(ball.upper()), math.inf)


def down(ball: arb) -> float:
    """Return a float64 that is at most every point of the ball."""
    return math.nextafter(float(ball.lower()), -math.inf)


def exact(value: Fraction) -> arb:
    """Enclose a rational number."""
    return arb(value.numerator) / arb(value.denominator)


@dataclass(frozen=True)
class Binomial:
    """``successes`` of ``trials``, and the counts around that matter."""

    successes: int
    trials: int

    def mass(self, count: int, rate: float) -> arb:
        """Enclose the probability of a count."""
        n = self.trials
        if rate in (0.0, 1.0):
            return arb(int(count == n * rate))
        with ctx.workprec(PRECISION):
            q = arb(rate)
            logs = arb(n + 1).lgamma() - arb(count + 1).lgamma() - arb(n - count + 1).lgamma()
            return (logs + count * q.log() + (n - count) * (1 - q).log()).exp()

    def ratios(self, count: int, rate: float, *, upward: bool) -> Floats:
        """Return the ratios of consecutive probabilities from ``count`` on, as far as matters."""
        n, odds = self.trials, rate / (1.0 - rate)
        reach = int(_REACH * math.sqrt(n * rate * (1.0 - rate)) + _EXTRA)
        if upward:
            x = np.arange(count, min(n, count + reach), dtype=np.float64)
            return (n - x) / (x + 1.0) * odds
        x = np.arange(count, max(0, count - reach), -1, dtype=np.float64)
        return x / (n - x + 1.0) / odds

    def tail_up(self, count: int, rate: float, *, upward: bool) -> float:
        """Return at least P(X >= count), or P(X <= count) downward, for a rate away from count."""
        if rate in (0.0, 1.0):
            return 1.0
        ratios = self.ratios(count, rate, upward=upward)
        terms = np.cumprod(ratios)
        ended = len(ratios) == (self.trials - count if upward else count)
        rest = 0.0
        if not ended:
            if ratios[-1] >= 1.0:
                return 1.0
            # The next ratios are smaller still.
            rest = float(terms[-1] / (1.0 - ratios[-1]))
        total = (1.0 + float(terms.sum()) + rest) * (1.0 + 16.0 * _UNIT * (len(terms) + 8.0))
        return up(self.mass(count, rate)) * total

    def tail_down(self, count: int, rate: float, *, upward: bool) -> float:
        """Return at most P(X >= count), or P(X <= count) downward."""
        if rate in (0.0, 1.0):
            return 0.0
        terms = np.cumprod(self.ratios(count, rate, upward=upward))
        total = (1.0 + float(terms.sum())) * (1.0 - 16.0 * _UNIT * (len(terms) + 8.0))
        return down(self.mass(count, rate)) * total

    @lru_cache(maxsize=256)  # noqa: B019 - frozen, and dozens of bytes
    def interval(self, error: Fraction) -> tuple[float, float]:
        """Return an interval that contains the Clopper-Pearson one, each end proved."""
        x, n, target = self.successes, self.trials, float(error)
        low, high = 0.0, 1.0
        if x > 0:
            low = float(_quantile(x, n - x + 1, target, upper=False)) * (1.0 - _HINT)
            if not self.tail_up(x, low, upward=True) <= down(exact(error)):
                low = 0.0
        if x < n:
            high = min(1.0, float(_quantile(x + 1, n - x, target, upper=True)) * (1.0 + _HINT))
            if not self.tail_up(x, high, upward=False) <= down(exact(error)):
                high = 1.0
        return low, high

    def window(self, box: tuple[float, float]) -> NDArray[np.int64]:
        """Return the counts that matter for rates in the box; it contains the observed one."""
        n = self.trials
        ends = []
        for rate, sign in zip(box, (-1.0, 1.0), strict=True):
            reach = _REACH * math.sqrt(n * rate * (1.0 - rate)) + _EXTRA
            ends.append(n * rate + sign * reach)
        first, last = max(0, math.floor(ends[0])), min(n, math.ceil(ends[1]))
        return np.arange(min(first, self.successes), max(last, self.successes) + 1)


@dataclass(frozen=True)
class Window:
    """A binomial with the window of counts that its box of rates calls for."""

    binomial: Binomial
    box: tuple[float, float]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The counts of the window."""
        return self.binomial.window(self.box)

    @cached_property
    def _steps(self) -> tuple[Floats, Floats]:
        """Ratios of consecutive probabilities, without the odds: upward and downward."""
        n, x = self.binomial.trials, self.counts.astype(np.float64)
        above = x[self.counts > self.binomial.successes]
        below = x[self.counts < self.binomial.successes][::-1]
        return (n - above + 1.0) / above, (below + 1.0) / (n - below)

    def masses(self, rates: Floats) -> tuple[Floats, Floats, Floats]:
        """Return upper bounds: of every probability of the window, and of what lies beyond it.

        One row per rate; then what lies below the window, and what lies above.
        """
        anchor = [up(self.binomial.mass(self.binomial.successes, float(q))) for q in rates]
        start = np.maximum(np.array(anchor), 0.0)[:, None]
        upward, downward = self._steps
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            odds = (rates / (1.0 - rates))[:, None]
            above = start * np.cumprod(upward * odds, axis=1)
            below = start * np.cumprod(downward / odds, axis=1)
        inflate = 1.0 + 16.0 * _UNIT * (len(self.counts) + 8.0)
        found = np.hstack([below[:, ::-1], start, above]) * inflate + 1e-290
        n, first, last = self.binomial.trials, int(self.counts[0]), int(self.counts[-1])
        odds = odds[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            beneath = _series(found[:, 0], first / (n - first + 1.0) / odds, first == 0)
            beyond = _series(found[:, -1], (n - last) / (last + 1.0) * odds, last == n)
        return found, beneath, beyond

    def tails(self, rates: Floats) -> Floats:
        """Return upper bounds of P(X >= x) over the window and of P(X beyond it), row by row.

        The first column is 1: it stands for every count up to the first.
        """
        masses, _, beyond = self.masses(rates)
        tails = np.cumsum(np.hstack([beyond[:, None], masses[:, ::-1]]), axis=1)[:, ::-1]
        tails = tails * (1.0 + 4.0 * _UNIT * (len(self.counts) + 8.0))
        tails[:, 0] = 1.0
        return np.minimum(tails, 1.0)

    @lru_cache(maxsize=64)  # noqa: B019 - a few windows, asked for again by every claim
    def upper_ends(self, error: Fraction) -> Floats:
        """Return lower bounds on the Clopper-Pearson upper ends over the window; increasing."""
        n, x = self.binomial.trials, self.counts.astype(np.float64)
        ends = _quantile(x + 1.0, np.maximum(n - x, 0.5), float(error), upper=True)
        hints = ends * (1.0 - _HINT)
        hints = np.where(x < n, hints, 1.0)
        # P(X <= x) at the hint is at least the error, so the end is at least the hint.
        sums = self._tails(hints, upward=False)
        proved = (sums >= _above(error)) | (x == n)
        return np.maximum.accumulate(np.where(proved, hints, 0.0))

    @lru_cache(maxsize=64)  # noqa: B019 - as above
    def lower_ends(self, error: Fraction) -> Floats:
        """Return upper bounds on the Clopper-Pearson lower ends over the window; increasing."""
        n, x = self.binomial.trials, self.counts.astype(np.float64)
        ends = _quantile(np.maximum(x, 0.5), n - x + 1.0, float(error), upper=False)
        hints = ends * (1.0 + _HINT)
        hints = np.where(x > 0, np.minimum(hints, 1.0), 0.0)
        sums = self._tails(hints, upward=True)
        proved = (sums >= _above(error)) | (x == 0)
        return np.minimum.accumulate(np.where(proved, hints, 1.0)[::-1])[::-1]

    def _tails(self, rates: Floats, *, upward: bool) -> Floats:
        """Return lower bounds of P(X >= x), or of P(X <= x), each x at its own rate."""
        pairs = zip(self.counts.tolist(), rates.tolist(), strict=True)
        return np.array([self.binomial.tail_down(x, q, upward=upward) for x, q in pairs])


def _above(error: Fraction) -> float:
    return up(exact(error))


def _series(last: Floats, ratio: Floats, ended: bool) -> Floats:
    """Bound what follows the last term when the ratios of terms only fall."""
    if ended:
        return np.zeros_like(last)
    factor = ratio * (1.0 + 1e-12)
    return np.where(factor < 1.0, last * factor / np.maximum(1.0 - factor, 1e-12), 1.0)
