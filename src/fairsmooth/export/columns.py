"""From raw columns to the mean and the square of a row, the encoder's rules in between.

An encoded row is nearly all indicators, so it is never formed: every rule gives the *place* of
the one feature that it sets, and a table of places holds what that feature adds to
``w·x`` and to ``‖x‖²``. Behind the features the table has two more places: one that adds
nothing, and one that adds NaN, for a value that the encoder refuses.
"""

from dataclasses import dataclass, field

import numpy as np

from fairsmooth.core.rule import FittedRule
from fairsmooth.data.columns import Binned, Categories, DatePart, Rule, Standardised
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.values import normal_text
from fairsmooth.exceptions import InputError
from fairsmooth.export.dates import add_date_parts
from fairsmooth.export.graph import Graph, input_name
from fairsmooth.export.spellings import AMBIGUOUS, NORMAL, places_of_texts

_HUGE = 1e100
KNOWN = (Binned, Categories, DatePart, Standardised)


@dataclass
class _Layout:
    """Where the rules' inputs and features are."""

    n_features: int
    texts: list[tuple[Categories, int]] = field(default_factory=list)
    binned: list[tuple[str, Binned | DatePart, int]] = field(default_factory=list)
    scaled: list[tuple[Standardised, int]] = field(default_factory=list)

    @property
    def nothing(self) -> int:
        return self.n_features

    @property
    def unusable(self) -> int:
        return self.n_features + 1


def require_known(rules: tuple[Rule, ...]) -> None:
    """Refuse an encoder with rules that this file does not know how to write."""
    for rule in rules:
        if type(rule) not in KNOWN:
            raise InputError(
                f"Expected columns that are cut, scaled or coded, got {rule.kind} of column "
                f"{rule.name!r}, which cannot be written as a graph of these. "
                "Score with the library, or train with other --columns."
            )
        if isinstance(rule, Categories) and any(normal_text(v) != v for v in rule.values):
            raise InputError(
                f"Expected categories of column {rule.name!r} in normal form, got others, as a "
                "file of an early version may have them. Train again."
            )


def input_kinds(encoder: TableEncoder) -> dict[str, type]:
    """Return the type of every column's input: text, number, or date as microseconds."""
    kinds: dict[type, type] = {Categories: str, DatePart: int}
    return {rule.name: kinds.get(type(rule), float) for rule in encoder.rules}


def add_columns(graph: Graph, encoder: TableEncoder, rule: FittedRule) -> tuple[str, str]:
    """Add the inputs and all up to the names of ``mean`` and ``square``, of shape (rows, 1)."""
    layout = _layout(encoder)
    kinds = input_kinds(encoder)
    given = {name: graph.input(input_name(name), kind, ("rows", 1)) for name, kind in kinds.items()}
    weights, intercept = rule.parameters[:-1], rule.parameters[-1]
    table = np.column_stack([weights, np.ones_like(weights)])
    graph.constant("table", np.vstack([table, [0.0, 0.0], [np.nan, np.nan]]))
    graph.constant("intercept", [[intercept, 0.0]])
    parts = []
    if layout.texts:
        graph.node("texts", "Concat", [given[rule.name] for rule, _ in layout.texts], axis=1)
        parts.append(_add_texts(graph, layout, encoder.unknown))
    numeric = [name for name, kind in kinds.items() if kind is float]
    dated = [name for name, kind in kinds.items() if kind is int]
    columns = {name: place for place, name in enumerate(numeric)}
    if numeric or dated:
        made = add_date_parts(graph, [given[name] for name in dated]) if dated else []
        columns |= {
            f"{part} of {name}": len(numeric) + len(dated) * turn + place
            for turn, part in enumerate(("year", "month", "weekday"))
            for place, name in enumerate(dated)
        }
        graph.node("numbers", "Concat", [*(given[name] for name in numeric), *made], axis=1)
    if layout.binned:
        parts.append(_add_bins(graph, layout, columns))
    if layout.scaled:
        parts.append(_add_scaled(graph, layout, columns, weights))
    graph.node("places", "Concat", parts, axis=1)
    graph.node("entries", "Gather", ["table", "places"], axis=0)
    graph.constant("rules_axis", [1], np.int64)
    graph.node("entry_sums", "ReduceSum", ["entries", "rules_axis"], keepdims=0)
    graph.node("indicator_sums", "Add", ["entry_sums", "intercept"])
    total = "indicator_sums"
    if layout.scaled:
        total = graph.node("totals", "Add", ["indicator_sums", "scaled_sums"])
    graph.constant("mean_place", [0], np.int64)
    graph.constant("square_place", [1], np.int64)
    graph.node("mean", "Gather", [total, "mean_place"], axis=1)
    graph.node("square", "Gather", [total, "square_place"], axis=1)
    return "mean", "square"


def _layout(encoder: TableEncoder) -> _Layout:
    layout = _Layout(len(encoder.feature_names))
    first = 0
    for rule in encoder.rules:
        if isinstance(rule, Categories):
            layout.texts.append((rule, first))
        elif isinstance(rule, Standardised):
            layout.scaled.append((rule, first))
        else:
            part = rule.name if isinstance(rule, Binned) else f"{rule.part} of {rule.name}"
            layout.binned.append((part, rule, first))
        first += len(rule.feature_names)
    return layout


def _add_texts(graph: Graph, layout: _Layout, unknown: str) -> str:
    """Look every text up under the number of its column."""
    lookup: dict[str, int] = {}
    others = []
    for column, (rule, first) in enumerate(layout.texts):
        places, other = places_of_texts(
            rule, first, nothing=layout.nothing, unusable=layout.unusable, unknown=unknown
        )
        lookup |= {f"{column}:{text}": place for text, place in places.items()}
        others.append(other)
    graph.constant("prefixes", [f"{column}:" for column in range(len(others))], object)
    graph.constant("other_places", others, np.int64)
    graph.constant("no_place", 0, np.int64)
    graph.constant("unusable", layout.unusable, np.int64)
    graph.node("keys", "StringConcat", ["prefixes", "texts"])
    graph.node(
        "found", "LabelEncoder", ["keys"], keys_strings=list(lookup),
        values_int64s=list(lookup.values()), default_int64=-1,
    )  # fmt: skip
    graph.node("is_new", "Less", ["found", "no_place"])
    graph.node("is_ambiguous", "RegexFullMatch", ["texts"], pattern=AMBIGUOUS)
    graph.node("is_normal", "RegexFullMatch", ["texts"], pattern=NORMAL)
    graph.node("is_not_normal", "Not", ["is_normal"])
    graph.node("is_odd", "And", ["is_ambiguous", "is_not_normal"])
    graph.node("new_places", "Where", ["is_odd", "unusable", "other_places"])
    return graph.node("text_places", "Where", ["is_new", "new_places", "found"])


def _add_bins(graph: Graph, layout: _Layout, columns: dict[str, int]) -> str:
    """Count the edges below every number: that is its interval."""
    owners, first_levels, gaps = [], [], []
    edges: list[float] = []
    places: list[int] = []
    for number, (_, rule, first) in enumerate(layout.binned):
        # Where only gaps differ there is one interval; nothing is above infinity.
        own = list(rule.edges) or [np.inf]
        n_levels = len(rule.edges) + 1 + rule.missing
        edges += own
        owners += [number] * len(own)
        first_levels.append(len(places))
        gaps.append(len(places) + n_levels - 1 if rule.missing else -1)
        places += [layout.nothing, first] if n_levels == 2 else range(first, first + n_levels)
    refused = len(places)
    used = [columns[name] for name, _, _ in layout.binned]
    graph.constant("edges", edges)
    graph.constant("edge_columns", [used[owner] for owner in owners], np.int64)
    graph.constant("edge_owners", np.eye(len(used))[owners], np.float32)
    graph.constant("binned_columns", used, np.int64)
    graph.constant("first_levels", first_levels, np.int64)
    graph.constant("gap_levels", [refused if gap < 0 else gap for gap in gaps], np.int64)
    graph.constant("refused_level", refused, np.int64)
    graph.constant("level_places", [*places, layout.unusable], np.int64)
    graph.node("compared", "Gather", ["numbers", "edge_columns"], axis=1)
    graph.node("is_above", "Greater", ["compared", "edges"])
    graph.node("above", "Cast", ["is_above"], to=graph.onnx.TensorProto.FLOAT)
    graph.node("counts", "MatMul", ["above", "edge_owners"])
    graph.node("intervals_below", "Cast", ["counts"], to=graph.onnx.TensorProto.INT64)
    graph.node("levels_of_numbers", "Add", ["intervals_below", "first_levels"])
    graph.node("binned", "Gather", ["numbers", "binned_columns"], axis=1)
    graph.node("is_gap", "IsNaN", ["binned"])
    graph.node("is_infinite", "IsInf", ["binned"])
    graph.node("levels_or_gaps", "Where", ["is_gap", "gap_levels", "levels_of_numbers"])
    graph.node("levels", "Where", ["is_infinite", "refused_level", "levels_or_gaps"])
    return graph.node("number_places", "Gather", ["level_places", "levels"], axis=0)


def _add_scaled(graph: Graph, layout: _Layout, columns: dict[str, int], weights: np.ndarray) -> str:
    """Centre and scale numbers; a missing one counts as the mean and sets an indicator."""
    rules = [rule for rule, _ in layout.scaled]
    gaps = [first + 1 if rule.missing else layout.unusable for rule, first in layout.scaled]
    graph.constant("scaled_columns", [columns[rule.name] for rule in rules], np.int64)
    graph.constant("means", [rule.mean for rule in rules])
    graph.constant("scales", [rule.scale for rule in rules])
    graph.constant("scaled_weights", [[weights[first]] for _, first in layout.scaled])
    graph.constant("no_number", 0.0)
    graph.constant("gap_places", gaps, np.int64)
    graph.constant("nothing", layout.nothing, np.int64)
    graph.constant("scaled_axis", [1], np.int64)
    graph.node("unscaled", "Gather", ["numbers", "scaled_columns"], axis=1)
    graph.node("is_missing", "IsNaN", ["unscaled"])
    graph.node("centred", "Sub", ["unscaled", "means"])
    graph.node("divided", "Div", ["centred", "scales"])
    graph.node("filled", "Where", ["is_missing", "no_number", "divided"])
    # As the library: a row beyond 1e100 has the score of its direction, and nothing overflows.
    graph.constant("huge", _HUGE)
    graph.node("sizes", "Abs", ["filled"])
    graph.node("largest", "ReduceMax", ["sizes", "scaled_axis"], keepdims=1)
    graph.node("at_least_huge", "Max", ["largest", "huge"])
    graph.node("shrinking", "Div", ["huge", "at_least_huge"])
    graph.node("scaled", "Mul", ["filled", "shrinking"])
    graph.node("scaled_mean", "MatMul", ["scaled", "scaled_weights"])
    graph.node("scaled_square", "ReduceSumSquare", ["scaled", "scaled_axis"], keepdims=1)
    graph.node("scaled_sums", "Concat", ["scaled_mean", "scaled_square"], axis=1)
    return graph.node("missing_places", "Where", ["is_missing", "gap_places", "nothing"])
