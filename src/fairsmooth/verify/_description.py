"""The description inside a model file, checked field by field."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fairsmooth.verify._fields import an_object, is_whole, labels, one_of, real, require
from fairsmooth.verify._json import Object, canonical, parse_object
from fairsmooth.verify._rule import Rule, read_rule

FORMATS = (1, 2)
MAX_GROUPS = 1000
LINKS = ("logistic", "probit")
CENTERS = ("mean", "ball")
ACTIVATIONS = ("relu", "tanh", "silu")
BY_GROUP = ("distances", "epsilon_by_group", "epsilon_linear_by_group")
# A bound of None says "no finite bound"; the total variation always has one, 1.
MAY_BE_UNBOUNDED = ("max_distance", "distances", "epsilon", "epsilon_linear_by_group")
_STATED = ("sigma", "groups", "n_parameters", "center")
_ENTRIES = (
    *("format", "library", "architecture", "link", "sigma", "center", "threshold", "groups"),
    *("classes", "features", "certificate", "parameters", "encoder"),
)
_SINCE_2 = ("smoothing", "table", "guarantee")
_SINGLE = ("max_distance", "epsilon", "epsilon_tight")


@dataclass(frozen=True)
class Description:
    """What a model file says of itself; every number is a float64 or infinity.

    ``slope`` and ``offset`` are those of the map that scores go through, 1 and 0 without one;
    ``rule`` is whatever else a prediction depends on.
    """

    sigma: float
    center: str
    groups: tuple[Any, ...]
    n_parameters: int
    certificate: Object
    bounds: dict[str, tuple[float, ...]]
    rule: Rule
    slope: float = 1.0
    offset: float = 0.0


def parse_description(text: str) -> Description:
    """Read the description, or raise :class:`ModelFileError` with the reason."""
    plain = parse_object(text, where="description")
    try:
        is_canonical = canonical(plain) == text
    except (RecursionError, ValueError):
        is_canonical = False
    require(is_canonical, "the description in canonical JSON", "another spelling of it")
    known = is_whole(plain.get("format")) and plain["format"] in FORMATS
    require(known, f"format {FORMATS[0]} or {FORMATS[-1]}", plain.get("format"))
    entries = {*_ENTRIES, *(("training",) if plain["format"] == 1 else _SINCE_2)}
    if plain["format"] != 1:
        entries |= {"calibration", "pipeline"} & set(plain)
    require(set(plain) == entries, f"the entries {sorted(entries)}", sorted(plain))
    one_of(plain, "link", LINKS)
    center = one_of(plain, "center", CENTERS)
    sigma = real(plain, "sigma")
    require(sigma >= 0.0, "sigma >= 0", sigma)
    threshold = real(plain, "threshold")
    require(0.0 <= threshold <= 1.0, "a threshold between 0 and 1", threshold)
    groups = labels(plain, "groups")
    require(len(groups) <= MAX_GROUPS, f"at most {MAX_GROUPS} groups", len(groups))
    certificate = an_object(plain, "certificate")
    _same_settings(plain, an_object(plain, "parameters"))
    n_parameters = _count(an_object(plain, "architecture"))
    slope, offset = _calibration(plain)
    return Description(
        sigma=sigma,
        center=center,
        groups=groups,
        n_parameters=n_parameters,
        certificate=certificate,
        bounds=_bounds(certificate, len(groups)),
        rule=read_rule(plain),
        slope=slope,
        offset=offset,
    )


def _calibration(plain: Object) -> tuple[float, float]:
    """Return slope and offset of the map that scores go through."""
    if "calibration" not in plain:
        return 1.0, 0.0
    entry = an_object(plain, "calibration")
    known = {"slope", "offset"}
    require(set(entry) == known, f"a calibration with {sorted(known)}", sorted(entry))
    slope, offset = real(entry, "slope"), real(entry, "offset")
    require(0.0 < slope < math.inf, "a finite slope of the calibration > 0", slope)
    require(math.isfinite(offset), "a finite offset of the calibration", offset)
    return slope, offset


def _bounds(certificate: Object, n_groups: int) -> dict[str, tuple[float, ...]]:
    """Return every bound of the certificate as a tuple: one number, or one per group."""
    known = {*_STATED, *_SINGLE, *BY_GROUP}
    if "slope" in certificate:
        known.add("slope")
    require(set(certificate) == known, f"a certificate with {sorted(known)}", sorted(certificate))
    bounds = {}
    for name in (*_SINGLE, *BY_GROUP):
        values = certificate[name] if name in BY_GROUP else [certificate[name]]
        length = n_groups if name in BY_GROUP else 1
        fits = isinstance(values, list) and len(values) == length
        require(fits, f"{length} numbers in the certificate's {name}", values)
        bounds[name] = tuple(_bound(value, name) for value in values)
    return bounds


def _bound(value: Any, name: str) -> float:
    if value is None and name in MAY_BE_UNBOUNDED:
        return math.inf
    return real({name: value}, name)


def _count(architecture: Object) -> int:
    """Return the number of parameters that the architecture has."""
    kind = architecture.get("kind")
    if kind == "module":
        count = architecture.get("n_parameters")
        require(is_whole(count) and int(count or 0) >= 1, "the module's n_parameters", count)
        return int(count or 0)
    require(kind == "network", "an architecture of kind 'network' or 'module'", kind)
    one_of(architecture, "activation", ACTIVATIONS)
    hidden = architecture.get("hidden_layer_sizes")
    require(isinstance(hidden, list), "a list of hidden_layer_sizes", hidden)
    widths = [architecture.get("n_features"), *(hidden or []), 1]
    fits = all(is_whole(width) and width >= 1 for width in widths)
    require(fits, "positive whole sizes of the layers", widths)
    return sum(int(after) * (int(before) + 1) for before, after in pairwise(widths))


def _same_settings(plain: Object, settings: Object) -> None:
    """Require settings that are written twice to agree: which one is used must not matter."""
    for name in ("sigma", "link", "center"):
        require(
            name in settings and settings[name] == plain[name],
            f"the same {name} in parameters ({plain[name]!r})",
            settings.get(name),
        )
