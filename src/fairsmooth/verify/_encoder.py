"""The rules that turn columns into features, as far as a file can show that they fit."""

from itertools import pairwise
from typing import Any

from fairsmooth.verify._fields import is_whole, require
from fairsmooth.verify._forecasters import read_forecasters


def n_features_of(encoder: Any) -> int | None:
    """Return how many features an encoder makes; None if there is none or a rule is not known.

    Raises
    ------
    ModelFileError
        If it is no list of named rules, each column once, or a known rule does not fit.
    """
    if encoder is None:
        return None
    forecasters = read_forecasters(encoder)
    if forecasters is not None:
        n_features_of(encoder["inputs"])
        return forecasters.n_features
    if isinstance(encoder, dict) and encoder.get("kind") == "crossed":
        return _n_crossed(encoder)
    columns = encoder.get("columns") if isinstance(encoder, dict) else None
    require(isinstance(columns, list) and bool(columns), "an encoder with columns", encoder)
    counts, names = [], []
    for rule in columns or []:
        named = isinstance(rule, dict) and all(
            isinstance(rule.get(entry), str) for entry in ("kind", "name")
        )
        require(named, "a rule of the encoder with kind and name", rule)
        # A column of dates has a rule for each of its parts.
        names.append((rule["name"], str(rule.get("part"))))
        counts.append(_count(rule))
    require(len(set(names)) == len(names), "every column once in the encoder", names)
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def n_columns_of(encoder: Any) -> int | None:
    """Return how many rules read the table's columns, in an encoder that has been checked."""
    if encoder is None:
        return None
    inner = {"forecasts": "inputs", "crossed": "fine"}.get(encoder.get("kind", ""))
    return len((encoder if inner is None else encoder[inner])["columns"])


def _n_crossed(encoder: dict[str, Any]) -> int | None:
    """Return the features of fine columns and of products of two rough ones each."""
    entries = {"kind", "fine", "rough", "pairs"}
    require(set(encoder) == entries, f"an encoder with {sorted(entries)}", sorted(encoder))
    fine, rough = n_features_of(encoder["fine"]), n_features_of(encoder["rough"])
    pairs = encoder["pairs"]
    require(isinstance(pairs, list), "a list of pairs", pairs)
    for pair in pairs:
        places = isinstance(pair, list) and len(pair) == 2 and all(map(is_whole, pair))
        fits = places and 0 <= pair[0] < pair[1] and (rough is None or pair[1] < rough)
        require(fits, "a pair of columns", pair)
    return None if fine is None else fine + len(pairs)


def _count(rule: dict[str, Any]) -> int | None:
    """Return the features of one rule; a level for missing values is newer than format 1."""
    missing, other = (_flag(rule, entry) for entry in ("missing", "other"))
    match rule["kind"]:
        case "binned" | "date":
            edges = rule.get("edges")
            numbers = isinstance(edges, list) and all(type(edge) in (int, float) for edge in edges)
            rising = numbers and all(low < high for low, high in pairwise(edges or []))
            require(rising, f"rising edges of {rule['name']!r}", edges)
            levels = len(edges or []) + 1 + missing
        case "categories":
            values = rule.get("values")
            fits = isinstance(values, list) and all(isinstance(value, str) for value in values)
            fits = fits and len(set(values or [])) == len(values or [])
            require(fits, f"different categories of {rule['name']!r}", values)
            levels = len(values or []) + missing + other
        case "standardised":
            return 1 + missing
        case _:
            return None
    require(levels >= 2, f"two levels of {rule['name']!r}", levels)
    return 1 if levels == 2 else levels


def _flag(rule: dict[str, Any], entry: str) -> bool:
    value = rule.get(entry, False)
    require(isinstance(value, bool), f"{entry} of {rule['name']!r} to be true or false", value)
    return bool(value)
