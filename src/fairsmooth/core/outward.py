"""Float64 arithmetic that errs on the safe side, the same on every machine.

Every function returns a number that is at least (``up``) or at most (``down``)
the exact real result for the float64 inputs, at the cost of a few units in the
last place. Sums are added in an order that is written down here, by operations
that IEEE 754 defines to the last bit: neither the memory order of an array nor
the kernels that BLAS picks for a CPU can change a digit.
"""

import math
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np

from fairsmooth._types import Floats

_UNIT = 2.0**-53
# Relative slack for one elementary function (division, erf, square root)
# evaluated on an argument that is itself off by a few units: far above the
# documented errors, far below anything a reader would see.
_SLACK = 16 * _UNIT
# Rows, or pairs of rows, that are compared at once.
_BLOCK = 512
_SQRT_2 = math.sqrt(2.0)
_SQRT_2PI = math.sqrt(2.0 * math.pi)
# From here on decimals say nothing: a float64 has no digits behind the point.
_LONG = 10**15


def ordered_sum(values: Floats) -> Floats:
    """Add along the first axis by halving: entry ``i`` to entry ``i + n // 2``, and so on.

    The order is that of this tree whatever the memory order. Every entry passes
    through at most ``ceil(log2 n)`` additions, which bounds the rounding.
    """
    while len(values) > 1:
        half = len(values) // 2
        pairs = values[:half] + values[half : 2 * half]
        values = np.concatenate([pairs, values[2 * half :]]) if len(values) % 2 else pairs
    return np.asarray(values[0])


def norms_up(vectors: Floats) -> Floats:
    """Return upper bounds on the Euclidean norms of differences of float64 vectors, row by row.

    Scaling by a power of two is exact and keeps the squares from under- or
    overflowing. Of ``m`` squares the sum has a relative error below
    ``ceil(log2 m) + 1`` units; forming each difference added one more.
    """
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    bounds = np.where(largest == 0.0, 0.0, np.inf)  # infinity or no number: no bound
    used = (largest > 0.0) & np.isfinite(largest)
    if not used.any():
        return bounds
    _, exponents = np.frexp(largest[used])
    scaled = np.ldexp(vectors[used], -exponents[:, None])
    bounds[used] = _widened(np.sqrt(_squares(scaled)), exponents, n_terms=vectors.shape[1])
    return bounds


def norm_up(vector: Floats) -> float:
    """Return an upper bound on the Euclidean norm of one vector; see :func:`norms_up`."""
    return float(norms_up(np.asarray(vector)[None, :])[0])


def largest_distance_up(points: Floats) -> float:
    """Return an upper bound on the largest distance between two rows.

    One scale serves all pairs: the largest squared distance is then between ¼ and
    ``m``, and what the others lose to underflow cannot make them the largest.
    """
    with np.errstate(over="ignore"):  # a spread outside the range is infinite: no bound
        spread = float((points.max(axis=0) - points.min(axis=0)).max())
    if spread == 0.0 or not math.isfinite(spread):
        return spread
    _, exponent = math.frexp(spread)
    scaled = np.ldexp(points, -exponent)
    squared = max(_squares(scaled[i] - scaled[j]).max() for i, j in _far_pairs(scaled))
    return float(_widened(np.sqrt(squared), exponent, n_terms=points.shape[1]))


def _far_pairs(points: Floats) -> Iterator[tuple[Any, Any]]:
    r"""Yield numbers of rows in pairs, among them every pair that may be the farthest.

    With offsets ``a`` and ``b`` from one row, of length at most ``L``,
    :math:`|a|^2 + |b|^2 - 2 a\cdot b` in whatever order BLAS adds is within
    :math:`4(m + 8)` units of :math:`L^2` of the squared distance, and what :func:`_squares`
    makes of it within :math:`4\log_2 m + 8`. A pair that is less than the largest by twice
    their sum cannot be the farthest; there the doubt is taken four times as large.
    """
    offsets = points - points[0]
    lengths = np.einsum("ij,ij->i", offsets, offsets)
    doubt = 16 * (points.shape[1] + 16) * _UNIT * float(lengths.max())

    def rough(start: int) -> Floats:
        part = slice(start, start + _BLOCK)
        return lengths[part, None] + lengths - 2.0 * (offsets[part] @ offsets.T)

    starts = range(0, len(points), _BLOCK)
    least = max(float(rough(start).max()) for start in starts) - 2.0 * doubt
    for start in starts:
        first, second = np.nonzero(np.triu(rough(start) >= least, k=start + 1))
        for some in range(0, len(first), _BLOCK):
            part = slice(some, some + _BLOCK)
            yield first[part] + start, second[part]


def _squares(vectors: Floats) -> Floats:
    """Return the squared length of every row."""
    return ordered_sum((vectors * vectors).T)


def _widened(norms: Floats, exponents: Any, *, n_terms: int) -> Floats:
    """Return scaled norms by their true size, moved up by more than their error."""
    margin = 1.0 + (math.ceil(math.log2(n_terms)) + 8) * _UNIT
    with np.errstate(over="ignore"):  # a norm outside the range is infinite: no bound
        # Below the normal range the relative argument fails; one step up covers it.
        return np.nextafter(np.ldexp(norms * margin, exponents), np.inf)


def quotient_down(value: float, divisor: float) -> float:
    """Return at most ``value / divisor`` for positive numbers; exactly ``value`` for 1.

    Examples
    --------
    >>> quotient_down(0.5, 1.0), quotient_down(1.0, 3.0) < 1.0 / 3.0
    (0.5, True)
    """
    if divisor == 1.0 or value == 0.0:
        return value
    return math.nextafter(value / divisor, 0.0)


def lipschitz_up(distance: float, sigma: float, *, share: float = 1.0) -> float:
    r"""Return an upper bound on :math:`r / (\sqrt{2\pi}\sigma)`, the bound of Lemma 2.

    ``share`` multiplies the distance: :math:`(K-1)/K` in Theorem 2.
    """
    if distance == 0.0 or share == 0.0:
        return 0.0
    if sigma == 0.0:
        return math.inf
    # Dividing in two steps keeps a tiny sigma from overflowing 1 / sigma.
    bound = distance / sigma / _SQRT_2PI * share * (1.0 + _SLACK)
    return _two_up(bound)


def total_variation_up(distance: float, sigma: float) -> float:
    r"""Return an upper bound on :math:`2\Phi(r/2\sigma) - 1 = \mathrm{erf}(r/(2\sqrt2\sigma))`."""
    if distance == 0.0:
        return 0.0
    if sigma == 0.0:
        return 1.0
    bound = math.erf(distance / sigma / (2.0 * _SQRT_2)) * (1.0 + _SLACK)
    return min(1.0, _two_up(bound))


def _two_up(value: float) -> float:
    """Return the second float above: below the normal range relative slack rounds away."""
    return math.nextafter(math.nextafter(value, math.inf), math.inf)


def shifted_normal(probability: Floats, shift: float) -> tuple[Floats, Floats]:
    r"""Bound :math:`\Phi(\Phi^{-1}(p) \mp \text{shift})` from below and from above.

    The quantile is moved outward by more than the error of computing it, and
    the tails by more than the relative error of the normal distribution
    function there.
    """
    # Loaded when used: reading and verifying a certificate need no special functions.
    from scipy.special import ndtr, ndtri

    quantile = ndtri(probability)
    with np.errstate(invalid="ignore"):  # at p = 0 or 1 the quantile is infinite
        margin = 4e-15 * (1.0 + np.abs(quantile) + shift)
        low = ndtr(quantile - shift - margin) * (1.0 - 1e-11)
        high = -ndtr(-(quantile + shift + margin)) * (1.0 - 1e-11) + 1.0
    low = np.where(probability <= 0.0, 0.0, np.where(probability >= 1.0, 1.0, low))
    high = np.where(probability >= 1.0, 1.0, np.where(probability <= 0.0, 0.0, high))
    return low, np.minimum(1.0, np.nextafter(high, np.inf))


def upper_text(value: float, digits: int = 4, *, significant: bool = False) -> str:
    """Print an upper bound, rounded up, so that the printed number is a bound too.

    ``digits`` counts decimals, or significant digits if ``significant``.

    Examples
    --------
    >>> upper_text(0.0021479), upper_text(2.0), upper_text(1.23456e-9, significant=True)
    ('0.0022', '2.0000', '1.235e-9')
    """
    return _text(value, digits, ROUND_CEILING, significant)


def lower_text(value: float, digits: int = 4, *, significant: bool = False) -> str:
    """Print a lower bound, rounded down; see :func:`upper_text`.

    Examples
    --------
    >>> lower_text(0.97999)
    '0.9799'
    """
    return _text(value, digits, ROUND_FLOOR, significant)


def _text(value: float, digits: int, rounding: str, significant: bool) -> str:
    if not math.isfinite(value):
        return "no bound"
    # A decimal holds every float exactly, so nothing is rounded but once, outward.
    exact = Decimal(float(value))
    if significant or abs(exact) >= _LONG:
        shortest = Context(prec=digits, rounding=rounding).create_decimal(exact)
        return f"{shortest:g}"
    return f"{exact.quantize(Decimal(1).scaleb(-digits), rounding=rounding):f}"
