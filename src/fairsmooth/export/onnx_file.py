"""A model file as one ONNX file, with all that is needed to verify it."""

import base64
import json
import os
from dataclasses import fields
from pathlib import Path

from fairsmooth import _atomic
from fairsmooth.core.labels import group_text
from fairsmooth.core.network import Network
from fairsmooth.core.rule import FittedRule
from fairsmooth.data.encoders import Encoder
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.exceptions import InputError
from fairsmooth.export.columns import add_columns, input_kinds, require_known
from fairsmooth.export.graph import Graph, input_name
from fairsmooth.export.scores import add_scores
from fairsmooth.persistence import SavedModel, file_digest, layout, read_model

# All that a rule consists of and that the graph holds, or does not need.
_WRITTEN = {
    "architecture", "group_parameters", "parameters", "free_group_parameters", "sigma", "link",
    "smoothing", "n_draws", "center", "threshold", "certificate", "device",
}  # fmt: skip
_SCORES = ("auto", "exact")
# Noise whose square, times that of a row, is a number.
_MOST_NOISE = 1e150
_TYPES = {str: "text", float: "number", int: "microseconds since 1970"}


def write_onnx(
    model: str | os.PathLike[str], path: str | os.PathLike[str], *, encoded: bool = False
) -> None:
    """Write the linear model of a file as an ONNX graph that runs without this library.

    Inputs are the table's columns, each of shape (rows, 1): text for categories, float64 for
    numbers (NaN where missing), int64 microseconds since 1970 for dates. Outputs are
    ``probability`` (rows,), ``decision`` (rows,), 1 for the positive class, 0 for the other
    and -1 for a row that has no score, and ``intervals`` (rows, groups, 2), which
    contain the library's and are never inside them.

    Parameters
    ----------
    model : path
        A model file.
    path : path
        Where to write.
    encoded : bool
        Take one input ``features`` of shape (rows, features) instead, the rows as the encoder
        makes them: one call is then a few times faster. A model without an encoder has
        no other way.

    Raises
    ------
    InputError
        If the model is not linear, if its scores are sampled, or if it has
        columns or a score that the graph cannot have.
    """
    saved = read_model(model)
    rule = saved.classifier.rule_
    _require_writable(rule)
    encoder = _known_encoder(saved.encoder)
    graph = Graph()
    if encoded or encoder is None:
        mean, square = _add_features(graph, rule)
    else:
        require_known(encoder.rules)
        mean, square = add_columns(graph, encoder, rule)
    add_scores(graph, rule, mean, square)
    metadata = _metadata(saved, Path(model), raw=not (encoded or encoder is None))
    written = graph.model(about=str(saved.classifier.certificate_), metadata=metadata)
    _atomic.write_bytes(path, written.SerializeToString(deterministic=True))


def _require_writable(rule: FittedRule) -> None:
    network = rule.architecture
    if not isinstance(network, Network) or network.hidden_layer_sizes:
        what = (
            f"hidden layers {list(network.hidden_layer_sizes)}"
            if isinstance(network, Network)
            else "a module"
        )
        raise InputError(
            f"Expected a linear model, got {what}: the smooth score of a network is no formula "
            "that ONNX can hold. Score with fairsmooth predict, or train without --hidden."
        )
    if rule.smoothing not in _SCORES:
        raise InputError(
            f"Expected exact scores, got smoothing={rule.smoothing!r}, which draws them. "
            "Train with smoothing='auto'."
        )
    if not rule.sigma < _MOST_NOISE:
        raise InputError(
            f"Expected sigma below {_MOST_NOISE:g}, got {rule.sigma}: the graph squares it. "
            "Score with fairsmooth predict."
        )
    for entry in fields(rule):
        if entry.name not in _WRITTEN and getattr(rule, entry.name) is not None:
            raise InputError(
                f"Expected a rule of weights and a threshold, got one with {entry.name}, "
                "which the graph cannot hold. Score with fairsmooth predict."
            )


def _known_encoder(encoder: Encoder | None) -> TableEncoder | None:
    """Return the encoder if its columns have nodes; products and forecasts have none."""
    if encoder is None or isinstance(encoder, TableEncoder):
        return encoder
    raise InputError(
        f"Expected columns that are cut, scaled or coded, got {type(encoder).__name__}: "
        "products of columns, and forecasts by other models, are not in the graph. "
        "Score with fairsmooth predict, or train with other --columns."
    )


def _add_features(graph: Graph, rule: FittedRule) -> tuple[str, str]:
    weights, intercept = rule.parameters[:-1], rule.parameters[-1]
    features = graph.input("features", float, ("rows", len(weights)))
    graph.constant("weights", weights[:, None])
    graph.constant("intercept", [intercept])
    graph.constant("features_axis", [1], int)
    graph.node("mean", "Gemm", [features, "weights", "intercept"])
    graph.node("square", "ReduceSumSquare", [features, "features_axis"], keepdims=1)
    return "mean", "square"


def describe_inputs(model: str | os.PathLike[str], *, encoded: bool = False) -> dict[str, str]:
    """Return the inputs that the graph of a model has, and what each of them takes."""
    return _inputs(read_model(model), raw=not encoded)


def _inputs(saved: SavedModel, *, raw: bool) -> dict[str, str]:
    encoder = _known_encoder(saved.encoder)
    if encoder is None or not raw:
        return {"features": f"{saved.classifier.n_features_in_} numbers"}
    kinds = input_kinds(encoder)
    return {input_name(name): _TYPES[kind] for name, kind in kinds.items()}


def _metadata(saved: SavedModel, path: Path, *, raw: bool) -> dict[str, str]:
    """Return what a reader or verifier needs: texts, as ONNX has it."""
    classifier = saved.classifier
    table = saved.training
    labels = [table.get("negative"), table.get("positive")]
    entries = {
        "certificate": classifier.certificate_.to_dict(),
        "guarantee": saved.guarantee,
        "groups": [group_text(group) for group in classifier.groups_],
        "labels": labels if "positive" in table else classifier.classes_.tolist(),
        "inputs": _inputs(saved, raw=raw),
    }
    plain = {
        name: json.dumps(entry, ensure_ascii=False, sort_keys=True)
        for name, entry in entries.items()
    }
    digests = {"digest": file_digest(path), "file_digest": layout.stated_digest(path)}
    model = base64.b64encode(path.read_bytes()).decode("ascii")
    return {**plain, **digests, "model": model}
