"""JSON from a file that is not trusted: no duplicate keys, no NaN, no infinity."""

import json
import math
from typing import Any

from fairsmooth.exceptions import ModelFileError

Object = dict[str, Any]


def parse_object(text: str, *, where: str) -> Object:
    """Return the JSON object that ``text`` holds, or say what is wrong with it."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_constant,
            parse_float=_finite_float,
        )
    except RecursionError:
        raise ModelFileError(
            f"Expected shallow JSON in the {where}, got nesting too deep."
        ) from None
    except ValueError as error:
        raise ModelFileError(
            f"Expected JSON in the {where}, got text that is not: {error}."
        ) from None
    if not isinstance(value, dict):
        raise ModelFileError(f"Expected a JSON object in the {where}, got {type(value).__name__}.")
    return value


def canonical(value: object) -> str:
    """Write JSON in the one form that model files use: sorted keys, no spaces."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _without_duplicates(pairs: list[tuple[str, Any]]) -> Object:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return names


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:32]} is outside the range of float64")
    return value
