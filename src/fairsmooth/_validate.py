"""One-line checks with one form of message: what was expected, what came."""

import difflib
import math
from collections.abc import Collection, Sized

from fairsmooth.exceptions import InputError


def positive(**values: float) -> None:
    """Require every named value to be a finite number greater than 0."""
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"Expected {name} > 0, got {name}={value!r}.")


def non_negative(**values: float) -> None:
    """Require every named value to be a finite number of at least 0."""
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise InputError(f"Expected {name} >= 0, got {name}={value!r}.")


def in_range(low: float, high: float, **values: float) -> None:
    """Require ``low <= value <= high`` for every named value."""
    for name, value in values.items():
        if not low <= value <= high:
            raise InputError(f"Expected {name} between {low} and {high}, got {name}={value!r}.")


def one_of(choices: Collection[str], **values: str) -> None:
    """Require every named value to be one of the choices, and list them if it is not."""
    for name, value in values.items():
        if value not in choices:
            listed = ", ".join(repr(choice) for choice in choices)
            raise InputError(f"Expected {name} to be one of {listed}, got {name}={value!r}.")


def same_length(**values: Sized) -> None:
    """Require all named values to have as many rows as the first."""
    (first, reference), *others = values.items()
    for name, value in others:
        if len(value) != len(reference):
            raise InputError(
                f"Expected {name} to have one entry per row of {first} ({len(reference)}), "
                f"got {len(value)}."
            )


def known_column(column: str, columns: Collection[str], *, where: str) -> None:
    """Require a column to exist; if it does not, name those spelt nearly the same."""
    if column in columns:
        return
    names = [str(name) for name in columns]
    near = difflib.get_close_matches(column, names, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"It has {names}."
    raise InputError(f"Expected a column named {column!r} in {where}, found none. {hint}")
