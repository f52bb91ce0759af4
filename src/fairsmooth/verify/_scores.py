"""Bounds on a mean of scores in [0, 1], from three numbers per cell, enclosed."""

from fractions import Fraction

from flint import arb, ctx

from fairsmooth.verify._binomial import PRECISION, down, exact, up

_BISECTIONS = 60
# The stated mean and variance are themselves rounded.
_STATED = 1e-12


def mean_interval(
    rows: int, mean: float, variance: float | None, error: Fraction
) -> tuple[float, float]:
    """Return the intersection of the Chernoff and the empirical Bernstein interval, outward.

    Each end fails with probability at most ``error``; each of the two bounds spends half.
    """
    low, high = _chernoff_low(rows, mean, error), 1.0 - _chernoff_low(rows, 1.0 - mean, error)
    if variance is not None:
        with ctx.workprec(PRECISION):
            log_term = (4 / exact(error)).log()
            width = (2 * (arb(variance) + _STATED) * log_term / rows).sqrt()
            width += 7 * log_term / (3 * (rows - 1))
        low, high = max(low, mean - up(width)), min(high, mean + up(width))
    return max(0.0, low - _STATED), min(1.0, high + _STATED)


def _chernoff_low(rows: int, mean: float, error: Fraction) -> float:
    """Return at most the least p with n KL(mean, p) <= log(2/error)."""
    low, high = 0.0, mean
    with ctx.workprec(PRECISION):
        slack = (2 / exact(error)).log() / rows
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            if 0.0 < middle < 1.0 and _divergence(mean, middle) > slack:
                low = middle
            else:
                high = middle
    return down(arb(low))


def _divergence(mean: float, p: float) -> arb:
    first = arb(mean) * (arb(mean) / arb(p)).log() if mean > 0 else arb(0)
    if mean >= 1.0:
        return first
    return first + (1 - arb(mean)) * ((1 - arb(mean)) / (1 - arb(p))).log()
