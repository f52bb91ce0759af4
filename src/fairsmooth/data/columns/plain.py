"""Checks of plain data from a file that nobody vouches for.

They raise ``ValueError`` with half a sentence; the encoder completes it.
"""

import math
from itertools import pairwise
from typing import Any


def text(value: Any) -> str:
    """Require text."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r} where text belongs")
    return value


def entries(value: Any) -> list[Any]:
    """Require a list."""
    if not isinstance(value, list):
        raise ValueError(f"{value!r} where a list belongs")
    return value


def flag(value: Any, name: str) -> bool:
    """Require true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{name}={value!r}, neither true nor false")
    return value


def finite(value: Any) -> float:
    """Require a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{value!r} where a finite number belongs")
    return float(value)


def edges(value: Any, *, empty: bool = False) -> tuple[float, ...]:
    """Require numbers that increase, at least one unless ``empty`` will do."""
    found = tuple(finite(edge) for edge in entries(value))
    if not (found or empty) or any(high <= low for low, high in pairwise(found)):
        raise ValueError(f"edges that do not increase, {list(found)}")
    return found


def whole(value: Any, low: int, high: int) -> int:
    """Require a whole number within bounds; true and false are none."""
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{value!r} where a whole number from {low} to {high} belongs")
    return value
