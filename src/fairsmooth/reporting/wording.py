"""Numbers and names as a reader of a page meets them."""

from collections.abc import Hashable, Sequence

from fairsmooth.core.labels import group_text
from fairsmooth.core.outward import lower_text, upper_text

# A number and its sign stay on one line.
SIGN = "\N{NO-BREAK SPACE}%"


def percent(rate: float) -> str:
    """Print a rate in percent, with one decimal, or two where it is below one percent.

    Examples
    --------
    >>> [percent(rate).replace(SIGN, " %") for rate in (0.0756, 0.00421, 0.0)]
    ['7.6 %', '0.42 %', '0.0 %']
    """
    return f"{100.0 * rate:.{_decimals(rate)}f}{SIGN}"


def percent_range(low: float, high: float) -> str:
    """Print an interval in percent, rounded outward.

    Examples
    --------
    >>> percent_range(0.0687, 0.0838).replace(SIGN, " %")
    '6.8 to 8.4 %'
    """
    return f"{hundredths(low, high)}{SIGN}"


def hundredths(low: float, high: float) -> str:
    """Print an interval in hundredths, rounded outward."""
    digits = _decimals(high)
    return f"{lower_text(100.0 * low, digits)} to {upper_text(100.0 * high, digits)}"


def points(gap: float) -> str:
    """Print a difference of two rates in percentage points."""
    return f"{100.0 * gap:.{_decimals(gap)}f} percentage points"


def sure(confidence: float) -> str:
    """Print a confidence."""
    return f"{100.0 * confidence:.6g}{SIGN}"


def listed(names: Sequence[str]) -> str:
    """Join names as one would say them.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def group_names(groups: Sequence[Hashable]) -> dict[Hashable, str]:
    """Name groups for people: the parts of an intersection apart by a dot.

    Where that would give two groups one name, all keep the spelling that cannot.

    Examples
    --------
    >>> group_names([("Female", "White"), ("Male", "White")])
    {('Female', 'White'): 'Female · White', ('Male', 'White'): 'Male · White'}
    """
    names = {g: " · ".join(map(str, g)) if isinstance(g, tuple) else str(g) for g in groups}
    names = {g: name if name.strip() else "(empty)" for g, name in names.items()}
    if len(set(names.values())) == len(names):
        return names
    return {g: group_text(g) for g in groups}


def _decimals(rate: float) -> int:
    return 2 if 0.0 < rate < 0.01 else 1
