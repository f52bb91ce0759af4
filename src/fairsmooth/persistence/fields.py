"""Plain data that nobody vouches for: each function returns a value of its type, or raises."""

import math
from collections.abc import Collection, Mapping
from typing import Any

from fairsmooth.exceptions import InputError

Object = Mapping[str, Any]
_SHOWN = 80


def require(holds: bool, expected: str, got: object) -> None:
    """Raise with what was expected and what came, unless it holds."""
    if not holds:
        shown = repr(got)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        raise InputError(f"Expected {expected}, got {shown}.")


def an_object(value: Any, name: str) -> dict[str, Any]:
    """Return an object with whatever entries."""
    require(isinstance(value, dict), f"{name} to be an object", value)
    return dict(value)


def object_with(
    value: Any, name: str, *, required: Collection[str] = (), optional: Collection[str] = ()
) -> dict[str, Any]:
    """Return an object that has all required entries and no entry that is unknown."""
    plain = an_object(value, name)
    missing = sorted(set(required) - set(plain))
    require(not missing, f"the entries {missing} in {name}", sorted(plain))
    unknown = sorted(set(plain) - {*required, *optional})
    require(not unknown, f"no other entries in {name}", unknown)
    return plain


def text(value: Any, name: str) -> str:
    """Return text."""
    require(isinstance(value, str), f"{name} to be text", value)
    return str(value)


def one_of(value: Any, name: str, choices: Collection[str]) -> str:
    """Return one of the choices."""
    require(isinstance(value, str) and value in choices, f"{name} among {list(choices)}", value)
    return str(value)


def whole(value: Any, name: str, *, least: int = 0, most: int = 2**53) -> int:
    """Return a whole number; true and false are none."""
    require(
        type(value) is int and least <= value <= most,
        f"{name} to be a whole number >= {least}",
        value,
    )
    return int(value)


def real(value: Any, name: str, *, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number within bounds; true and false are none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan
    except OverflowError:
        number = math.nan
    span = f" between {low:g} and {high:g}" if low > -math.inf else ""
    require(math.isfinite(number) and low <= number <= high, f"{name} to be a number{span}", value)
    return number


def flag(value: Any, name: str) -> bool:
    """Return true or false."""
    require(isinstance(value, bool), f"{name} to be true or false", value)
    return bool(value)


def texts(value: Any, name: str) -> list[str]:
    """Return a list of different texts."""
    fits = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    require(
        fits and len(set(value)) == len(value), f"{name} to be a list of different texts", value
    )
    return list(value)


def scalar(value: Any, name: str) -> str | int | float | bool | None:
    """Return text, a finite number, true, false or nothing."""
    plain = value is None or isinstance(value, str | bool | int)
    fits = plain or (isinstance(value, float) and math.isfinite(value))
    require(fits, f"{name} to be text, a number, true, false or nothing", value)
    result: str | int | float | bool | None = value
    return result


def labels(value: Any, name: str) -> tuple[Any, ...]:
    """Return different labels; a list of plain values is the label of an intersection."""
    require(isinstance(value, list) and bool(value), f"a list of {name}", value)
    found = tuple(
        tuple(scalar(part, name) for part in label) if isinstance(label, list) else
        scalar(label, name) for label in value
    )  # fmt: skip
    # Labels become keys: 1, 1.0 and true would be one key for three groups.
    require(len(set(found)) == len(found), f"different {name}", value)
    return found
