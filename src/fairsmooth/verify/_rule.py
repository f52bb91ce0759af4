"""What a prediction depends on besides weights and sigma: draws, columns, classes, roles."""

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fairsmooth.verify._encoder import n_columns_of, n_features_of
from fairsmooth.verify._fields import an_object, is_whole, labels, one_of, real, require, texts
from fairsmooth.verify._forecasters import Forecasters, read_forecasters
from fairsmooth.verify._json import Object, canonical

METHODS = ("auto", "exact", "layerwise", "monte_carlo")
_ROLES = ("label", "positive", "negative", "sensitive", "ids", "drop", "include_sensitive", "bands")
_PROVENANCE = (
    *("rows", "held_out", "seed", "test_size", "digest", "versions", "date", "notes"),
    "id_digests",
)


# Entries of a description that a prediction does not depend on.
_BESIDE = ("format", "library", "parameters", "certificate", "guarantee", "training")


def text_of_rule(plain: Object) -> str:
    """Return the part of a description that a prediction depends on, in canonical JSON.

    Its digest, with the tensors, is that of the model, whenever it was trained and in whatever
    format of a file it is.
    """
    rule = {name: entry for name, entry in plain.items() if name not in _BESIDE}
    if plain["format"] == 1:
        settings = plain["parameters"]
        rule["smoothing"] = {"method": settings["smoothing"], "n_draws": settings["n_draws"]}
    notes = plain["training" if plain["format"] == 1 else "table"] or {}
    rule["table"] = {name: entry for name, entry in notes.items() if name in _ROLES}
    return canonical(rule)


@dataclass(frozen=True)
class Rule:
    """How scores and decisions are made.

    Attributes
    ----------
    is_module : bool
        Whether the base classifier is code that the file does not hold.
    way : {"exact", "layerwise", "monte_carlo"}
        How scores are computed.
    has_exact_way : bool
    n_draws : int
    threshold : float
    n_features : int
    n_columns : int or None
        Columns of the table that the encoder reads, if there is one.
    forecasters : Forecasters or None
        If the features are forecasts.
    label, positive : text or None
        The label's column and its positive value, of a model of a table.
    has_guarantee : bool
    steps : str or None
        SHA-256 of the pipeline's steps that make the features, if a pipeline was saved.
    """

    is_module: bool
    way: str
    has_exact_way: bool
    n_draws: int
    threshold: float
    n_features: int
    n_columns: int | None
    forecasters: Forecasters | None
    label: str | None
    positive: str
    has_guarantee: bool
    steps: str | None = None


def read_rule(plain: Object) -> Rule:
    """Read the rule, or raise :class:`ModelFileError` with the reason."""
    is_old = plain["format"] == 1
    settings, architecture = plain["parameters"], plain["architecture"]
    smoothing = settings if is_old else _smoothing(plain, settings)
    is_module = architecture["kind"] == "module"
    has_exact_way = not is_module and len(architecture["hidden_layer_sizes"]) <= 1
    method = one_of({"method": smoothing.get("smoothing")}, "method", METHODS)
    possible = {"exact": has_exact_way, "layerwise": not is_module}.get(method, True)
    require(possible, "a method of smoothing that the architecture has", method)
    n_draws = smoothing.get("n_draws")
    require(is_whole(n_draws) and int(n_draws or 0) >= 1, "n_draws of at least 1", n_draws)
    if method == "auto":
        method = "exact" if has_exact_way else "monte_carlo" if is_module else "layerwise"
    classes = _classes(plain)
    table = _table(plain.get("training") if is_old else plain.get("table"), classes)
    n_features, forecasters = _features(plain), read_forecasters(plain["encoder"])
    guarantee = plain.get("guarantee")
    require(guarantee is None or isinstance(guarantee, dict), "a guarantee or none", guarantee)
    return Rule(
        is_module=is_module,
        way=method,
        has_exact_way=has_exact_way,
        n_draws=int(n_draws or 0),
        threshold=real(plain, "threshold"),
        n_features=n_features,
        n_columns=n_columns_of(plain["encoder"]),
        forecasters=forecasters,
        label=table.get("label"),
        positive=repr(table.get("positive", classes[1])),
        has_guarantee=guarantee is not None,
        steps=_steps(plain),
    )


def _steps(plain: Object) -> str | None:
    """Return the digest of the steps before the classifier, which are not run here."""
    if "pipeline" not in plain:
        return None
    entry = an_object(plain, "pipeline")
    known = {"library", "steps", "last"}
    require(set(entry) == known, f"a pipeline with {sorted(known)}", sorted(entry))
    named = isinstance(entry["steps"], list) and all(
        isinstance(step, list) and len(step) == 2 and isinstance(step[0], str)
        for step in entry["steps"]
    )
    require(named and isinstance(entry["last"], str), "named steps of a pipeline", entry["last"])
    require(plain["encoder"] is None, "either a pipeline or an encoder", "both")
    return hashlib.sha256(canonical(entry).encode()).hexdigest()


def _smoothing(plain: Object, settings: Object) -> Object:
    """Return the method and the draws, which must be the same in both places."""
    smoothing = an_object(plain, "smoothing")
    names = {"method", "n_draws"}
    require(set(smoothing) == names, f"smoothing with {sorted(names)}", sorted(smoothing))
    stated = {"smoothing": smoothing["method"], "n_draws": smoothing["n_draws"]}
    for name, value in stated.items():
        same = settings.get(name) == value and type(settings.get(name)) is type(value)
        require(same, f"the same {name} in parameters ({value!r})", settings.get(name))
    return stated


def _classes(plain: Object) -> tuple[Any, ...]:
    classes = labels(plain, "classes", exactly=2)
    text = all(isinstance(label, str) for label in classes)
    number = all(isinstance(label, int | float) for label in classes)
    # The second is the positive one, so their order is part of every decision.
    rising = (text or number) and classes[0] < classes[1]
    require(rising, "2 classes of one type in rising order", list(classes))
    return classes


def _features(plain: Object) -> int:
    features = an_object(plain, "features")
    require(set(features) == {"count", "names"}, "features with count and names", sorted(features))
    count = features["count"]
    require(is_whole(count) and count >= 1, "a positive number of features", count)
    known = plain["architecture"].get("n_features", count)
    require(known == count, f"{known} features, as the architecture has", count)
    if features["names"] is not None:
        names = texts(features["names"], "names of features")
        require(len(names) == count, f"{count} names of features", names)
    made = n_features_of(plain["encoder"])
    require(made in (None, count), f"an encoder that makes {count} features", made)
    return int(count)


def _table(value: Any, classes: tuple[Any, ...]) -> Object:
    """Return the roles of a table's columns, none against another."""
    if value is None:
        return {}
    require(isinstance(value, dict), "the notes on the table to be an object", value)
    table: Object = value
    unknown = sorted(set(table) - {*_ROLES, *_PROVENANCE})
    require(not unknown, "no other notes on the table", unknown)
    sensitive, ids, drop = (
        set(texts(table.get(name, []), f"the table's {name}"))
        for name in ("sensitive", "ids", "drop")
    )
    label = table.get("label")
    require("label" not in table or isinstance(label, str), "label to be text", label)
    once = label not in sensitive | ids | drop and not sensitive & ids
    require(once, "one role for every column of the table", label)
    together = {"label", "positive", "negative"} & set(table)
    fits = together <= {"label"} or len(together) == 3
    require(fits, "label, positive and negative value together", sorted(together))
    if len(together) == 3:
        values = (table["negative"], table["positive"])
        plain = all(isinstance(entry, str | int | float) for entry in values)
        require(plain and str(values[0]) != str(values[1]), "two different labels", values)
        require(classes in ((0, 1), values), f"classes (0, 1) or {values}, as in table", classes)
    bands = table.get("bands", {})
    fits = isinstance(bands, dict) and set(bands) <= sensitive
    require(fits and all(map(_rising, bands.values())), "rising bands of sensitive columns", bands)
    include = table.get("include_sensitive", False)
    require(isinstance(include, bool), "include_sensitive to be true or false", include)
    return table


def _rising(edges: Any) -> bool:
    is_list = isinstance(edges, list) and bool(edges)
    numbers = is_list and all(type(edge) in (int, float) for edge in edges)
    return bool(numbers) and all(low < high for low, high in pairwise(edges))
