"""What a graph must hold of an encoder: nodes, constants and looked-up texts, by its own rules."""

import math
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from fairsmooth.exceptions import ModelFileError
from fairsmooth.verify._graph_nodes import (
    BINS,
    DATES,
    FEATURES,
    SCALED,
    TEXTS,
    Node,
    nodes_of,
    summing,
)
from fairsmooth.verify._json import Object
from fairsmooth.verify._model_file import Floats

_GAPS = ("", "?", "n/a", "N/A", "NA", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "NaT")
_SPACE = (
    r"[\t-\r\x{1c}-\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}"
    r"\x{3000}]"
)
_WHOLE = r"[+-]?(0|[1-9][0-9]*)"
_AMBIGUOUS = (
    rf"(?s:{_SPACE}.*|.*{_SPACE})"
    rf"|({_WHOLE}(\.[0-9]*)?|[+-]?\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|Infinity)"
    r"|([0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|([0-9]{2})\.([0-9]{2})\.([0-9]{4}))"
    r"([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_NORMAL = (
    rf"{_WHOLE}|-?[1-9][0-9]{{0,7}}\.([0-9]{{0,6}}[1-9])"
    r"|-?0\.0{0,3}[1-9]([0-9]{0,5}[1-9])?|[0-9]{4}-[0-9]{2}-[0-9]{2}"
)
_CALENDAR = {
    "day": 86_400_000_000, "era": 146_097, "to_march": 719_468, "weekday_start": 3, "week": 7,
    "four_years": 1_460, "century": 36_524, "era_end": 146_096, "year_days": 365, "four": 4,
    "hundred": 100, "era_years": 400, "five": 5, "two": 2, "months_days": 153, "ten": 10,
    "three": 3, "twelve": 12, "missing_date": -(2**63), "wrong_date": 2**63 - 1, "epoch": 0,
}  # fmt: skip
_KINDS = {"categories": "text", "date": "moment", "binned": "number", "standardised": "number"}


@dataclass
class Expected:
    """A graph as it should be, up to the mean and the square of a row."""

    inputs: dict[str, tuple[str, int]] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)


def expected_features(parameters: Floats) -> Expected:
    """Return the beginning of a graph that takes encoded rows."""
    return Expected(
        {"features": ("number", len(parameters) - 1)},
        nodes_of(FEATURES),
        {
            "weights": parameters[:-1, None],
            "intercept": parameters[-1:],
            "features_axis": np.array([1]),
        },
    )


def expected_columns(encoder: Object, parameters: Floats) -> Expected:
    """Return the beginning of a graph that takes the columns of a table."""
    weights, found = parameters[:-1], Expected()
    nothing, unusable = len(weights), len(weights) + 1
    rules = encoder["columns"]
    firsts = np.concatenate([[0], np.cumsum([_width(rule) for rule in rules])])[:-1].tolist()
    placed = list(zip(rules, firsts, strict=True))
    for rule in rules:
        if rule["kind"] not in _KINDS:
            raise ModelFileError(f"Expected a rule that a graph can have, got {rule['kind']!r}.")
        found.inputs[rule["name"]] = (_KINDS[rule["kind"]], 1)
    table = np.column_stack([weights, np.ones(len(weights))])
    found.constants |= {
        "table": np.vstack([table, [0.0, 0.0], [math.nan, math.nan]]),
        "intercept": np.array([[parameters[-1], 0.0]]),
        "rules_axis": np.array([1]),
        "mean_place": np.array([0]),
        "square_place": np.array([1]),
    }
    parts = []
    texts = [entry for entry in placed if entry[0]["kind"] == "categories"]
    scaled = [entry for entry in placed if entry[0]["kind"] == "standardised"]
    binned = [entry for entry in placed if entry[0]["kind"] in ("binned", "date")]
    if texts:
        _add_texts(found, texts, nothing, unusable, encoder["unknown"])
        parts.append("text_places")
    columns = _add_numbers(found)
    if binned:
        _add_bins(found, binned, columns, nothing, unusable)
        parts.append("number_places")
    if scaled:
        _add_scaled(found, scaled, columns, weights)
        parts.append("missing_places")
    found.nodes += summing(parts, scaled=bool(scaled))
    return found


def _width(rule: Object) -> int:
    if rule["kind"] == "standardised":
        return 1 + bool(rule.get("missing"))
    levels = _levels(rule)
    return 1 if levels == 2 else levels


def _levels(rule: Object) -> int:
    own = len(rule["values"]) if rule["kind"] == "categories" else len(rule["edges"]) + 1
    return own + bool(rule.get("missing")) + bool(rule.get("other"))


def _places(rule: Object, first: int, nothing: int) -> list[int]:
    levels = _levels(rule)
    return [nothing, first] if levels == 2 else list(range(first, first + levels))


def _ways(value: str) -> list[str]:
    """Return the ways to write a category that are finite in number."""
    if value in ("True", "False"):
        cases = product(*((letter.lower(), letter.upper()) for letter in value))
        return [value, *map("".join, cases)]
    digits = value.removeprefix("-")
    if digits.isdecimal() and digits.isascii() and (digits == "0" or digits[0] != "0"):
        plus = [f"+{value}"] if digits == value else []
        return [value, *(["-0"] if value == "0" else []), *plus]
    return [value]


def _add_texts(
    found: Expected, texts: list[tuple[Object, int]], nothing: int, unusable: int, unknown: str
) -> None:
    lookup: dict[str, int] = {}
    others = []
    astray = nothing if unknown == "ignore" else unusable
    for number, (rule, first) in enumerate(texts):
        places = _places(rule, first, nothing)
        values = rule["values"]
        gap = places[len(values)] if rule.get("missing") else astray
        lookup |= {key: gap for text in _GAPS for key in _spaced(number, text)}
        for value, place in zip(values, places[: len(values)], strict=True):
            lookup |= {key: place for text in _ways(value) for key in _spaced(number, text)}
        others.append(places[-1] if rule.get("other") else astray)
    found.constants |= {
        "prefixes": [f"{number}:" for number in range(len(texts))],
        "other_places": np.array(others),
        "no_place": np.array(0),
        "unusable": np.array(unusable),
    }
    attributes: dict[str, dict[str, Any]] = {
        "found": {"keys_strings": lookup, "default_int64": -1},
        "is_ambiguous": {"pattern": _AMBIGUOUS},
        "is_normal": {"pattern": _NORMAL},
    }
    names = tuple(rule["name"] for rule, _ in texts)
    found.nodes.append(Node("texts", "Concat", _given(names), {"axis": 1}))
    for node in nodes_of(TEXTS):
        found.nodes.append(node._replace(attributes=attributes.get(node.result, node.attributes)))


def _spaced(number: int, text: str) -> tuple[str, ...]:
    """Return the keys of a text in a column: as it is, or with a space on either side."""
    return tuple(f"{number}:{key}" for key in (text, f" {text}", f"{text} ", f" {text} "))


def _given(names: Any) -> tuple[str, ...]:
    """Mark the names of inputs, which are the user's, by a leading null character."""
    return tuple(f"\0{name}" for name in names)


def _add_numbers(found: Expected) -> dict[tuple[str, str], int]:
    """Add the numbers of all columns side by side; return the place of each, by name and part."""
    numeric = [name for name, (kind, _) in found.inputs.items() if kind == "number"]
    dated = [name for name, (kind, _) in found.inputs.items() if kind == "moment"]
    columns = {(name, ""): place for place, name in enumerate(numeric)}
    if not numeric and not dated:
        return columns
    made: tuple[str, ...] = ()
    if dated:
        found.constants |= {name: np.array(value) for name, value in _CALENDAR.items()}
        found.constants |= {"not_a_number": np.array(math.nan), "infinity": np.array(math.inf)}
        found.nodes.append(Node("given_dates", "Concat", _given(dated), {"axis": 1}))
        found.nodes += nodes_of(DATES)
        made = ("year_column", "month_column", "weekday_column")
        for turn, part in enumerate(("year", "month", "weekday")):
            for place, name in enumerate(dated):
                columns[name, part] = len(numeric) + turn * len(dated) + place
    found.nodes.append(Node("numbers", "Concat", (*_given(numeric), *made), {"axis": 1}))
    return columns


def _add_bins(
    found: Expected,
    binned: list[tuple[Object, int]],
    columns: dict[tuple[str, str], int],
    nothing: int,
    unusable: int,
) -> None:
    owners, starts, gaps = [], [], []
    edges: list[float] = []
    places: list[int] = []
    for number, (rule, first) in enumerate(binned):
        own = rule["edges"] or [math.inf]
        edges += own
        owners += [number] * len(own)
        starts.append(len(places))
        places += _places(rule, first, nothing)
        gaps.append(len(places) - 1 if rule.get("missing") else None)
    used = [columns[rule["name"], rule.get("part", "")] for rule, _ in binned]
    incidence = np.zeros((len(owners), len(used)), dtype=np.float32)
    incidence[np.arange(len(owners)), owners] = 1.0
    found.constants |= {
        "edges": np.array(edges, dtype=np.float64),
        "edge_columns": np.array([used[owner] for owner in owners]),
        "edge_owners": incidence,
        "binned_columns": np.array(used),
        "first_levels": np.array(starts),
        "gap_levels": np.array([len(places) if gap is None else gap for gap in gaps]),
        "refused_level": np.array(len(places)),
        "level_places": np.array([*places, unusable]),
    }
    found.nodes += nodes_of(BINS)


def _add_scaled(
    found: Expected,
    scaled: list[tuple[Object, int]],
    columns: dict[tuple[str, str], int],
    weights: Floats,
) -> None:
    unusable = len(weights) + 1
    found.constants |= {
        "scaled_columns": np.array([columns[rule["name"], ""] for rule, _ in scaled]),
        "means": np.array([rule["mean"] for rule, _ in scaled], dtype=np.float64),
        "scales": np.array([rule["scale"] for rule, _ in scaled], dtype=np.float64),
        "scaled_weights": np.array([[weights[first]] for _, first in scaled]),
        "no_number": np.array(0.0),
        "huge": np.array(1e100),
        "gap_places": np.array(
            [first + 1 if rule.get("missing") else unusable for rule, first in scaled]
        ),
        "nothing": np.array(len(weights)),
        "scaled_axis": np.array([1]),
    }
    found.nodes += nodes_of(SCALED)
