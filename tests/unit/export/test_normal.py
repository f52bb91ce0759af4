"""The two approximations, proved with ball arithmetic, not only measured."""

import math
from itertools import pairwise

import numpy as np
from flint import arb, arb_series, ctx
from scipy.special import ndtr

from fairsmooth.export import normal


def test_waves_are_the_distribution_function():
    frequencies, amplitudes = normal.waves()
    x = np.linspace(-normal.RANGE, normal.RANGE, 20_001)
    found = 0.5 + np.sin(x[:, None] * frequencies) @ amplitudes
    assert np.abs(found - ndtr(x)).max() < normal.WAVES_ERROR / 10
    assert ndtr(-normal.RANGE) < normal.WAVES_ERROR / 10


def test_the_polynomial_is_the_inverse_everywhere():
    """Cover [-1, 1] with small intervals, and bound the error on each by a Taylor model.

    With p(t) the probability at t and Q the polynomial, g = log tail(Q) - log p is 0 where
    Q is the quantile, and grows with Q by the hazard, at least 0.79 for Q >= 0. So |g| < 0.79 e
    proves that Q is within e of the quantile.
    """
    order = 8
    # Chebyshev's spacing: a polynomial's error swings fastest at the ends.
    edges = -np.cos(np.linspace(0.0, np.pi, 501))
    edges[0], edges[-1] = -1.0 - 1e-15, 1.0 + 1e-15
    previous = ctx.cap
    ctx.cap = order + 1
    try:
        with ctx.workprec(200):
            for low, high in pairwise(edges.tolist()):
                middle, radius = (low + high) / 2, (high - low) / 2 * (1 + 1e-9)
                known = excess(arb(middle))
                rest = excess(arb(middle, radius))[order]
                bound = sum((abs(known[j]) * radius**j for j in range(order)), arb(0))
                bound += abs(rest) * radius**order
                assert bound < arb(normal.INVERSE_ERROR) * 0.79, middle
    finally:
        ctx.cap = previous


def excess(t):
    """Return the Taylor series of log tail(Q) - log p at a point, or over an interval."""
    slope, start = normal.linear_map()
    place = arb_series([t, 1])
    quantile = arb_series([0])
    for coefficient in reversed(normal.inverse_polynomial()):
        quantile = quantile * place + arb(float(coefficient))
    root = (place - arb(start)) / arb(slope)
    log_tail = ((quantile / arb(2).sqrt()).erfc() / 2).log()
    return log_tail - (arb(normal.LIFT) - root * root) + arb(2).log()


def test_the_ends_of_the_polynomial():
    slope, start = normal.linear_map()
    assert math.isclose(slope * math.sqrt(normal.LIFT) + start, -1.0)
    most = math.sqrt(normal.LIFT - math.log(2 * normal.LEAST))
    assert math.isclose(slope * most + start, 1.0)
