"""Numbers as text, rounded so that what is printed is still true."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

_DIGITS = 4


def ceiling(value: float, digits: int = _DIGITS) -> str:
    """Print an upper bound, rounded up.

    Examples
    --------
    >>> ceiling(0.04800000000000001)
    '0.0481'
    """
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING))


def floor(value: float, digits: int = _DIGITS) -> str:
    """Print a lower bound, rounded down."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_FLOOR))
