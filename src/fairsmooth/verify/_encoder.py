"""The rules that turn columns into features, as far as a file can show that they fit."""

from itertools import pairwise
from typing import Any

from fairsmooth.verify._fields import require


def n_features_of(encoder: Any) -> int | None:
    """Return how many features an encoder makes; None if there is none or a rule is not known.

    Raises
    ------
    ModelFileError
        If it is no list of named rules, each column once, or a known rule does not fit.
    """
    if encoder is None:
        return None
    columns = encoder.get("columns") if isinstance(encoder, dict) else None
    require(isinstance(columns, list) and bool(columns), "an encoder with columns", encoder)
    counts, names = [], []
    for rule in columns or []:
        named = isinstance(rule, dict) and all(
            isinstance(rule.get(entry), str) for entry in ("kind", "name")
        )
        require(named, "a rule of the encoder with kind and name", rule)
        names.append(rule["name"])
        counts.append(_count(rule))
    require(len(set(names)) == len(names), "every column once in the encoder", names)
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _count(rule: dict[str, Any]) -> int | None:
    """Return the features of one rule as the first formats had it; later kinds are not known."""
    entries = set(rule) - {"kind", "name"}
    match rule["kind"]:
        case "binned" if entries == {"edges"}:
            edges = rule["edges"]
            numbers = isinstance(edges, list) and all(type(edge) in (int, float) for edge in edges)
            rising = numbers and all(low < high for low, high in pairwise(edges))
            require(bool(edges) and rising, f"rising edges of {rule['name']!r}", edges)
            return 1 if len(edges) == 1 else len(edges) + 1
        case "categories" if entries == {"values", "missing"}:
            values = rule["values"]
            fits = isinstance(values, list) and all(isinstance(value, str) for value in values)
            fits = fits and len(set(values)) == len(values) and isinstance(rule["missing"], bool)
            require(fits, f"different categories of {rule['name']!r}", values)
            count = len(values) + rule["missing"]
            require(count >= 2, f"two categories of {rule['name']!r}", values)
            return 1 if count == 2 else count
        case _:
            return None
