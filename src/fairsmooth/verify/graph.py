"""An ONNX file again: the model inside it, and that the graph is that model and nothing else."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fairsmooth.exceptions import ModelFileError
from fairsmooth.verify._description import Description, parse_description
from fairsmooth.verify._exact import measure
from fairsmooth.verify._fields import text_of
from fairsmooth.verify._graph_columns import Expected, expected_columns, expected_features
from fairsmooth.verify._graph_file import Opened, open_graph
from fairsmooth.verify._graph_nodes import SCORES, Node, nodes_of
from fairsmooth.verify._graph_scores import (
    JUDGED,
    fixed_constants,
    judge_intervals,
    judge_scores,
    rounding_of,
)
from fairsmooth.verify._json import Object, canonical, parse_object
from fairsmooth.verify._model_file import ModelFile, read_model_file
from fairsmooth.verify._rule import text_of_rule
from fairsmooth.verify.check import Check, not_checked
from fairsmooth.verify.verification import Verification

SUFFIX = ".onnx"
_OPSETS = {"": 20, "ai.onnx.ml": 3}
_OUTPUTS = ("probability", "decision", "intervals")
_DOMAINS = {"LabelEncoder": "ai.onnx.ml"}
# Element types of ONNX by their numbers.
_TYPES = {"number": 11, "moment": 7, "text": 8}


def verify_graph(
    path: str | os.PathLike[str], verify_file: Callable[[Path], Verification]
) -> Verification:
    """Confirm that an ONNX file is the model that it carries, and the certificate of that model.

    Every node is compared with the verifier's own list, every weight, edge and looked-up text
    with the model file inside. Constants of approximations are judged by what they compute.
    """
    opened = open_graph(path)
    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder) / "model"
        inside.write_bytes(opened.model)
        found = verify_file(inside)
        if not found.holds:
            return found
        file = read_model_file(inside)
    description = parse_description(file.description)
    plain = parse_object(file.description, where="description")
    try:
        with np.errstate(all="ignore"):  # constants that are no numbers are found out
            checks = tuple(_checks(opened, file, description, plain))
    except (ModelFileError, KeyError, TypeError, ValueError, IndexError) as error:
        checks = (Check("graph", False, f"Expected the graph of this model, got: {error}"),)
    return Verification((*found.checks, *checks))


def _checks(
    opened: Opened, file: ModelFile, description: Description, plain: Object
) -> Iterator[Check]:
    yield _metadata(opened.metadata, file, plain)
    if description.rule.way != "exact" or plain["architecture"].get("hidden_layer_sizes"):
        raise ModelFileError("a model that is not linear, or whose scores are sampled")
    if plain.get("calibration") is not None:
        raise ModelFileError("a model whose scores go through another map, which the graph lacks")
    parameters, constants = file.tensors["parameters"], opened.constants
    names = [value.name for value in opened.proto.graph.input]
    expected = (
        expected_features(parameters)
        if names == ["features"] and "/weights" in constants
        else expected_columns(plain["encoder"], parameters)
    )
    mixture = len(constants["/variances"])
    waves, powers = len(constants["/frequencies"]), len(constants["/coefficients"])
    n_groups = len(description.groups)
    expected.nodes += nodes_of(SCORES)
    expected.constants |= fixed_constants(n_groups, mixture * waves, powers)
    expected.constants |= {
        "noise": np.array(np.square(description.sigma)),
        "threshold": np.array(description.rule.threshold),
    }
    same = (_structure(opened.proto, expected, n_groups), _same_constants(constants, expected))
    yield from same
    if not all(check.holds for check in same):
        return
    judged = {name: constants[f"/{name}"] for name in (*JUDGED, "noise", "powers")}
    sigma, link = description.sigma, plain["link"]
    radii = measure(file.tensors["group_parameters"], parameters).squared_radii
    rounding = rounding_of(parameters, sigma, radii)
    yield judge_scores(judged, sigma=sigma, link=link, rounding=rounding)
    yield judge_intervals(
        judged,
        sigma=sigma,
        squared_radii=radii,
        stated=np.array(description.bounds["epsilon_by_group"]),
    )
    yield not_checked("words", "taken on trust: what the file says of its inputs, and in prose")
    yield not_checked("runtime", "taken on trust: that the runtime computes what the nodes say")


def _metadata(metadata: Mapping[str, str], file: ModelFile, plain: Object) -> Check:
    """Compare what the metadata say with the model file inside."""
    if metadata["file_digest"] != file.digest:
        return Check("metadata", False, "Expected the digest of the file inside, got another.")
    if metadata["digest"] != file.recomputed_digest(text_of_rule(plain)):
        return Check("metadata", False, "Expected the digest of the model inside, got another.")
    # Intervals are told apart by the place of their group, and decisions by that of their label.
    table = plain.get("table") or {}
    labels = [table.get("negative"), table.get("positive")]
    facts = {
        "certificate": plain.get("certificate"),
        "guarantee": plain.get("guarantee"),
        "groups": [text_of(group) for group in plain["groups"]],
        "labels": labels if "positive" in table else plain["classes"],
    }
    for name, fact in facts.items():
        stated = parse_object(f'{{"entry":{metadata[name]}}}', where=name)["entry"]
        if canonical(stated) != canonical(fact):
            return Check("metadata", False, f"Expected the {name} of the model, got another.")
    return Check("metadata", True, f"{', '.join(facts)} and digests are those of the model inside")


def _structure(proto: Any, expected: Expected, n_groups: int) -> Check:
    graph = proto.graph
    opsets = {entry.domain: entry.version for entry in proto.opset_import}
    more = len(proto.functions) + len(proto.training_info) + len(graph.sparse_initializer)
    if opsets != _OPSETS or more:
        return Check("graph", False, "Expected plain operations of opset 20, got others.")
    inputs = {_input(name): kind for name, kind in expected.inputs.items()}
    wanted = {name: (_TYPES[kind], ["rows", width]) for name, (kind, width) in inputs.items()}
    outputs = {
        "probability": (_TYPES["number"], ["rows"]),
        "decision": (_TYPES["moment"], ["rows"]),
        "intervals": (_TYPES["number"], ["rows", n_groups, 2]),
    }
    for what, values, right in (
        ("inputs", graph.input, wanted), ("outputs", graph.output, outputs),
    ):  # fmt: skip
        if [_shape(value) for value in values] != list(right.items()):
            return Check("graph", False, f"Expected the {what} {sorted(right)}, got others.")
    if len(graph.node) != len(expected.nodes):
        return Check(
            "graph", False, f"Expected {len(expected.nodes)} nodes, got {len(graph.node)}."
        )
    for found, node in zip(graph.node, expected.nodes, strict=True):
        if not _same_node(found, node):
            return Check(
                "graph", False, f"Expected {node.operation} for {node.result!r}, got another node."
            )
    return Check("graph", True, f"{len(graph.node)} nodes, each as expected, and no other")


def _input(name: str) -> str:
    taken = name in _OUTPUTS or name.startswith(("/", "input:"))
    return f"input:{name}" if taken else name


def _inside(name: str) -> str:
    if name.startswith("\0"):
        return _input(name[1:])
    return name if name in _OUTPUTS or name == "features" else f"/{name}"


def _shape(value: Any) -> tuple[str, tuple[int, list[Any]]]:
    tensor = value.type.tensor_type
    dims = [dim.dim_param or dim.dim_value for dim in tensor.shape.dim]
    return value.name, (tensor.elem_type, dims)


def _same_node(found: Any, node: Node) -> bool:
    inputs = tuple(map(_inside, node.inputs))
    same = (
        found.op_type == node.operation
        and found.domain == _DOMAINS.get(node.operation, "")
        and tuple(found.input) == inputs
        and list(found.output) == [_inside(node.result)]
    )
    return same and _attributes(found) == node.attributes


def _attributes(node: Any) -> dict[str, Any]:
    """Return attributes as plain values; a table of texts as one mapping."""
    found: dict[str, Any] = {}
    for entry in node.attribute:
        if entry.ref_attr_name or entry.name in found:
            raise ModelFileError(f"an attribute {entry.name!r} that refers elsewhere")
        found[entry.name] = _plain(entry)
    if "keys_strings" in found:
        keys, values = found["keys_strings"], found.pop("values_int64s")
        if len(set(keys)) != len(keys):
            raise ModelFileError("a text that is looked up twice")
        found["keys_strings"] = dict(zip(keys, values, strict=True))
    return found


def _plain(entry: Any) -> Any:
    """Return a whole number, a text, or a list of either."""
    match entry.type:
        case 2:
            return entry.i
        case 3:
            return entry.s.decode()
        case 7:
            return list(entry.ints)
        case 8:
            return [text.decode() for text in entry.strings]
    raise ModelFileError(f"an attribute {entry.name!r} of another type")


def _same_constants(constants: Mapping[str, Any], expected: Expected) -> Check:
    names = {f"/{name}" for name in (*expected.constants, *JUDGED)}
    if set(constants) != names:
        odd = sorted(names ^ set(constants))
        return Check("weights", False, f"Expected the constants of this model, got {odd[0]!r}.")
    for name, right in expected.constants.items():
        found = constants[f"/{name}"]
        same = found == right if isinstance(right, list) else _same_array(found, right)
        if not same:
            return Check(
                "weights", False, f"Expected {name!r} as in the certified model, got other values."
            )
    for name in JUDGED:
        if getattr(constants[f"/{name}"], "dtype", None) != np.float64:
            return Check("weights", False, f"Expected {name!r} in float64, got another type.")
    return Check("weights", True, "weights, edges and places are those certified, bit for bit")


def _same_array(found: Any, right: Any) -> bool:
    return (
        isinstance(found, np.ndarray)
        and found.dtype == right.dtype
        and found.shape == right.shape
        and np.array_equal(found, right, equal_nan=found.dtype.kind == "f")
    )
