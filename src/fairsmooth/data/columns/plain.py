"""Checks of plain data from a file that nobody vouches for.

They raise ``ValueError`` with half a sentence; the encoder completes it.
"""

import math
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


def finite(value: Any) -> float:
    """Require a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{value!r} where a finite number belongs")
    return float(value)
