"""The description inside a model file, checked field by field."""

import math
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fairsmooth.exceptions import ModelFileError
from fairsmooth.verify._json import Object, canonical, parse_object

FORMAT = 1
MAX_GROUPS = 1000
LINKS = ("logistic", "probit")
CENTERS = ("mean", "ball")
ACTIVATIONS = ("relu", "tanh", "silu")
BY_GROUP = ("distances", "epsilon_by_group", "epsilon_linear_by_group")
# A bound of None says "no finite bound"; the total variation always has one, 1.
MAY_BE_UNBOUNDED = ("max_distance", "distances", "epsilon", "epsilon_linear_by_group")
_STATED = ("sigma", "groups", "n_parameters", "center")
_SINGLE = ("max_distance", "epsilon", "epsilon_tight")


@dataclass(frozen=True)
class Description:
    """What a model file says of itself; every number is a float64 or infinity."""

    sigma: float
    center: str
    groups: tuple[Any, ...]
    n_parameters: int | None
    certificate: Object
    bounds: dict[str, tuple[float, ...]]


def parse_description(text: str) -> Description:
    """Read the description, or raise :class:`ModelFileError` with the reason."""
    plain = parse_object(text, where="description")
    try:
        is_canonical = canonical(plain) == text
    except (RecursionError, ValueError):
        is_canonical = False
    _require(is_canonical, "the description in canonical JSON", "another spelling of it")
    _require(
        _is_whole(plain.get("format")) and plain["format"] == FORMAT,
        f"format {FORMAT}",
        plain.get("format"),
    )
    _one_of(plain, "link", LINKS)
    center = _one_of(plain, "center", CENTERS)
    sigma = _real(plain, "sigma")
    _require(sigma >= 0.0, "sigma >= 0", sigma)
    threshold = _real(plain, "threshold")
    _require(0.0 <= threshold <= 1.0, "a threshold between 0 and 1", threshold)
    _labels(plain, "classes", exactly=2)
    groups = _labels(plain, "groups")
    _require(len(groups) <= MAX_GROUPS, f"at most {MAX_GROUPS} groups", len(groups))
    certificate = _object(plain, "certificate")
    _same_settings(plain, _object(plain, "parameters"))
    return Description(
        sigma=sigma,
        center=center,
        groups=groups,
        n_parameters=_count(_object(plain, "architecture")),
        certificate=certificate,
        bounds=_bounds(certificate, len(groups)),
    )


def _bounds(certificate: Object, n_groups: int) -> dict[str, tuple[float, ...]]:
    """Return every bound of the certificate as a tuple: one number, or one per group."""
    known = {*_STATED, *_SINGLE, *BY_GROUP}
    _require(set(certificate) == known, f"a certificate with {sorted(known)}", sorted(certificate))
    bounds = {}
    for name in (*_SINGLE, *BY_GROUP):
        values = certificate[name] if name in BY_GROUP else [certificate[name]]
        length = n_groups if name in BY_GROUP else 1
        fits = isinstance(values, list) and len(values) == length
        _require(fits, f"{length} numbers in the certificate's {name}", values)
        bounds[name] = tuple(_bound(value, name) for value in values)
    return bounds


def _bound(value: Any, name: str) -> float:
    if value is None and name in MAY_BE_UNBOUNDED:
        return math.inf
    return _real({name: value}, name)


def _count(architecture: Object) -> int | None:
    """Return the number of parameters of a network; a module's is not in the file."""
    kind = architecture.get("kind")
    if kind == "module":
        return None
    _require(kind == "network", "an architecture of kind 'network' or 'module'", kind)
    _one_of(architecture, "activation", ACTIVATIONS)
    hidden = architecture.get("hidden_layer_sizes")
    _require(isinstance(hidden, list), "a list of hidden_layer_sizes", hidden)
    widths = [architecture.get("n_features"), *(hidden or []), 1]
    fits = all(_is_whole(width) and width >= 1 for width in widths)
    _require(fits, "positive whole sizes of the layers", widths)
    return sum(int(after) * (int(before) + 1) for before, after in pairwise(widths))


def _same_settings(plain: Object, settings: Object) -> None:
    """Require settings that are written twice to agree: which one is used must not matter."""
    for name in ("sigma", "link", "center"):
        _require(
            name in settings and settings[name] == plain[name],
            f"the same {name} in parameters ({plain[name]!r})",
            settings.get(name),
        )


def _labels(plain: Object, name: str, *, exactly: int | None = None) -> tuple[Any, ...]:
    values = plain.get(name)
    _require(isinstance(values, list) and bool(values), f"a list of {name}", values)
    try:
        # Labels become keys: 1, 1.0 and true would be one key for three groups.
        labels = tuple(tuple(v) if isinstance(v, list) else v for v in values or [])
        distinct = len(set(labels)) == len(labels)
    except TypeError:
        distinct = False
    _require(distinct, f"distinct plain labels in {name}", values)
    _require(exactly in (None, len(labels)), f"{exactly} {name}", len(labels))
    return labels


def _object(plain: Object, name: str) -> Object:
    value = plain.get(name)
    if not isinstance(value, dict):
        raise ModelFileError(f"Expected {name} to be an object, got {_short(value)}.")
    return value


def _one_of(plain: Object, name: str, choices: tuple[str, ...]) -> str:
    value = plain.get(name)
    if value not in choices:
        raise ModelFileError(f"Expected {name} to be one of {choices}, got {_short(value)}.")
    return str(value)


def _real(plain: Object, name: str) -> float:
    value = plain.get(name)
    # A boolean is a whole number to Python; a large whole number may not be a float64.
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):
            if float(value) == value:
                return float(value)
    raise ModelFileError(f"Expected {name} to be a float64 number, got {_short(value)}.")


def _is_whole(value: Any) -> bool:
    return type(value) is int


def _require(holds: bool, expected: str, got: object) -> None:
    if not holds:
        raise ModelFileError(f"Expected {expected}, got {_short(got)}.")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
