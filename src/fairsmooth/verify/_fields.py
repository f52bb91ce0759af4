"""Entries of an object read from a file that is not trusted, each of its type or refused."""

from contextlib import suppress
from typing import Any

from fairsmooth.exceptions import ModelFileError
from fairsmooth.verify._json import Object


def labels(plain: Object, name: str, *, exactly: int | None = None) -> tuple[Any, ...]:
    """Return distinct labels; a list of plain values is one label."""
    values = plain.get(name)
    require(isinstance(values, list) and bool(values), f"a list of {name}", values)
    try:
        # Labels become keys: 1, 1.0 and true would be one key for three groups.
        found = tuple(tuple(v) if isinstance(v, list) else v for v in values or [])
        distinct = len(set(found)) == len(found)
    except TypeError:
        distinct = False
    require(distinct, f"distinct plain labels in {name}", values)
    require(exactly in (None, len(found)), f"{exactly} {name}", len(found))
    return found


def an_object(plain: Object, name: str) -> Object:
    """Return an object."""
    value = plain.get(name)
    if not isinstance(value, dict):
        raise ModelFileError(f"Expected {name} to be an object, got {_short(value)}.")
    return value


def one_of(plain: Object, name: str, choices: tuple[str, ...]) -> str:
    """Return one of the choices."""
    value = plain.get(name)
    if value not in choices:
        raise ModelFileError(f"Expected {name} to be one of {choices}, got {_short(value)}.")
    return str(value)


def real(plain: Object, name: str) -> float:
    """Return a number that is a float64."""
    value = plain.get(name)
    # A boolean is a whole number to Python; a large whole number may not be a float64.
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):
            if float(value) == value:
                return float(value)
    raise ModelFileError(f"Expected {name} to be a float64 number, got {_short(value)}.")


def is_whole(value: Any) -> bool:
    """Tell whole numbers from everything else, true and false included."""
    return type(value) is int


def require(holds: bool, expected: str, got: object) -> None:
    """Raise with what was expected and what came, unless it holds."""
    if not holds:
        raise ModelFileError(f"Expected {expected}, got {_short(got)}.")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def texts(value: Any, name: str) -> list[str]:
    """Return a list of different texts."""
    fits = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    require(fits and len(set(value)) == len(value), f"{name} to be different texts", value)
    return list(value)


def text_of(label: object) -> str:
    """Write a group's label: parts joined by bars, bars and backslashes inside them escaped."""
    parts = label if isinstance(label, tuple | list) else (label,)
    return "|".join(str(part).replace("\\", "\\\\").replace("|", "\\|") for part in parts)
