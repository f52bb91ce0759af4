"""The shape of a base classifier as plain data; a module is described, not stored: it is code."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fairsmooth.persistence.fields import an_object, object_with, one_of, require, text, whole

ACTIVATIONS = ("relu", "tanh", "silu")
MAX_PARAMETERS = 10_000_000
_MODULE = ("kind", "name", "n_parameters")


@dataclass(frozen=True)
class Shape:
    """What a description says of an architecture.

    ``n_features`` is None for a module, whose code alone knows. ``exact`` and
    ``layered`` tell which ways of smoothing it has.
    """

    n_parameters: int
    n_features: int | None
    exact: bool
    layered: bool


def read_architecture(value: Any) -> Shape:
    """Check the description of an architecture."""
    kind = one_of(
        an_object(value, "architecture").get("kind"),
        "the kind of architecture",
        ("network", "module"),
    )
    return _module(value) if kind == "module" else _network(value)


def _network(value: dict[str, Any]) -> Shape:
    names = ("kind", "n_features", "hidden_layer_sizes", "activation")
    plain = object_with(value, "architecture", required=names)
    one_of(plain["activation"], "activation", ACTIVATIONS)
    hidden = plain["hidden_layer_sizes"]
    require(isinstance(hidden, list), "hidden_layer_sizes to be a list", hidden)
    widths = [
        whole(width, "a layer's width", least=1, most=MAX_PARAMETERS)
        for width in (plain["n_features"], *hidden)
    ]
    n_parameters = sum(after * (before + 1) for before, after in pairwise([*widths, 1]))
    require(n_parameters <= MAX_PARAMETERS, f"at most {MAX_PARAMETERS} parameters", n_parameters)
    return Shape(n_parameters, widths[0], exact=len(hidden) <= 1, layered=True)


def _module(value: dict[str, Any]) -> Shape:
    plain = object_with(value, "architecture", required=_MODULE, optional=("parameters", "modules"))
    text(plain["name"], "the name of the module")
    count = whole(plain["n_parameters"], "n_parameters", least=1, most=MAX_PARAMETERS)
    total = 0
    for entry in _pairs(plain.get("parameters", []), "parameters of the module"):
        require(isinstance(entry, list), "the shape of a parameter", entry)
        size = 1
        for length in entry:
            size *= whole(length, "a length of a parameter", least=1, most=MAX_PARAMETERS)
        total += size
    if "parameters" in plain:
        require(total == count, f"parameters of {count} entries in all", total)
    for entry in _pairs(plain.get("modules", []), "modules of the module"):
        text(entry, "the class of a module")
    return Shape(count, None, exact=False, layered=False)


def _pairs(value: Any, name: str) -> list[Any]:
    """Return the second entries of a list of named pairs."""
    fits = isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in value
    )
    require(fits, f"{name} to be a list of names and values", value)
    return [pair[1] for pair in value]
