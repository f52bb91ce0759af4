"""One safe file per model: safetensors for the weights, canonical JSON for the rest.

Nothing in the file is code. Reading checks sizes, shapes and a digest over
everything, and computes the certificate again from the weights; a file that was
truncated or altered is refused.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes
from torch import nn

import fairsmooth
from fairsmooth import _atomic
from fairsmooth._types import Floats
from fairsmooth.core.architecture import ModuleNetwork
from fairsmooth.core.build import AnyNetwork, build, from_plain, to_plain
from fairsmooth.core.certificate import Certificate
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.estimator import LINKS, SMOOTHINGS, FairSmoothClassifier
from fairsmooth.exceptions import FairSmoothError, InputError, ModelFileError

FORMAT = 1
_MAX_BYTES = 2**30
_TENSORS = ("group_parameters", "parameters", "free_group_parameters")
_BUFFER = "buffer."


@dataclass(frozen=True)
class SavedModel:
    """What a model file holds.

    Attributes
    ----------
    classifier : FairSmoothClassifier
        Fitted.
    encoder : TableEncoder or None
        Turns a table with the original columns into the classifier's features.
    training : dict
        What was noted about the training: columns, rows, seed.
    """

    classifier: FairSmoothClassifier
    encoder: TableEncoder | None = None
    training: Mapping[str, Any] = field(default_factory=dict)


def save(
    classifier: FairSmoothClassifier,
    path: str | os.PathLike[str],
    *,
    encoder: TableEncoder | None = None,
    training: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted classifier to one file, atomically: the whole file or none of it."""
    tensors = _tensors(classifier)
    plain = {
        "format": FORMAT,
        "library": fairsmooth.__version__,
        "architecture": to_plain(classifier.architecture_),
        "link": classifier.link,
        "sigma": float(classifier.sigma),
        "center": classifier.center,
        "threshold": classifier.threshold_,
        "groups": [_plain_label(group) for group in classifier.groups_],
        "classes": [_plain_label(label) for label in classifier.classes_.tolist()],
        "features": _feature_names(classifier),
        "certificate": classifier.certificate_.to_dict(),
        "parameters": _plain_parameters(classifier),
        "encoder": None if encoder is None else encoder.to_dict(),
        "training": dict(training or {}),
    }
    text = canonical(plain)
    metadata = {"fairsmooth": text, "digest": digest(text, tensors)}
    _atomic.write_bytes(path, _same_bytes(to_bytes(tensors, metadata=metadata)))


def load(path: str | os.PathLike[str], *, module: nn.Module | None = None) -> FairSmoothClassifier:
    """Read a classifier from a file written by :func:`save`.

    Parameters
    ----------
    path : path
        The model file.
    module : torch.nn.Module, optional
        Needed for models trained with ``module=``: a file holds weights, not code.
    """
    return read_model(path, module=module).classifier


def read_model(path: str | os.PathLike[str], *, module: nn.Module | None = None) -> SavedModel:
    """Read a classifier together with its column encoder and training notes."""
    path = Path(path)
    text, stored_digest, tensors = _read(path)
    if digest(text, tensors) != stored_digest:
        raise ModelFileError(
            f"Expected {path} as it was written, got other contents: its digest does not match. "
            "The file was altered or damaged; use the original."
        )
    try:
        plain = json.loads(text)
        classifier = _rebuild(plain, tensors, module)
        encoder = None if plain["encoder"] is None else TableEncoder.from_dict(plain["encoder"])
        training = dict(plain["training"])
    except (KeyError, TypeError, ValueError, RecursionError, FairSmoothError) as error:
        raise ModelFileError(
            f"Expected a model file of this library, got {path}: {error}"
        ) from error
    return SavedModel(classifier, encoder, training)


def canonical(plain: Mapping[str, Any]) -> str:
    """Write plain data as JSON in one way only, so that a digest of it means something."""
    return json.dumps(
        plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest(text: str, tensors: Mapping[str, Floats]) -> str:
    """Return the SHA-256 of the JSON text and of every tensor with its name, type and shape."""
    sha = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        shape = ",".join(map(str, tensor.shape))
        sha.update(f"{name}\0{tensor.dtype}\0{shape}\0".encode())
        sha.update(np.ascontiguousarray(tensor).astype("<f8", copy=False).tobytes())
    return sha.hexdigest()


def _same_bytes(contents: bytes) -> bytes:
    """Sort the header of a safetensors file, so that the same model gives the same bytes.

    The library keeps metadata in a hash map, whose order changes from call to call.
    """
    size = int.from_bytes(contents[:8], "little")
    header = json.loads(contents[8 : 8 + size])
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)  # the format wants the data aligned
    return len(text).to_bytes(8, "little") + text + contents[8 + size :]


def _tensors(classifier: FairSmoothClassifier) -> dict[str, Floats]:
    tensors = {
        "group_parameters": classifier.group_parameters_,
        "parameters": classifier.parameters_,
    }
    if classifier.free_group_parameters_ is not None:
        tensors["free_group_parameters"] = classifier.free_group_parameters_
    if isinstance(classifier.architecture_, ModuleNetwork):
        for name, buffer in classifier.architecture_.module.named_buffers():
            tensors[_BUFFER + name] = buffer.double().numpy()
    return {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}


def _read(path: Path) -> tuple[str, str, dict[str, Floats]]:
    if not path.is_file():
        raise ModelFileError(f"Expected a model file, found none at {path}.")
    if path.stat().st_size > _MAX_BYTES:
        raise ModelFileError(
            f"Expected a model file of at most {_MAX_BYTES} bytes, got more: {path}."
        )
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            text, stored_digest = metadata["fairsmooth"], metadata["digest"]
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise ModelFileError(
            f"Expected a model file of this library, got {path}, which is damaged or something "
            f"else ({error})."
        ) from error
    for name, tensor in tensors.items():
        if not (name in _TENSORS or name.startswith(_BUFFER)) or tensor.dtype != np.float64:
            raise ModelFileError(
                f"Expected the tensors {_TENSORS} in float64, got {name!r} in {path}."
            )
    return text, stored_digest, tensors


def _rebuild(
    plain: Mapping[str, Any], tensors: Mapping[str, Floats], module: nn.Module | None
) -> FairSmoothClassifier:
    if plain["format"] != FORMAT:
        raise InputError(f"Expected format {FORMAT}, got {plain['format']!r}.")
    classifier = FairSmoothClassifier(module=module, **plain["parameters"])
    if classifier.link not in LINKS or classifier.smoothing not in SMOOTHINGS:
        raise InputError("Expected a known link and smoothing, got another.")
    architecture = _architecture(plain["architecture"], module, tensors)
    groups = tuple(tuple(g) if isinstance(g, list) else g for g in plain["groups"])
    stacked = tensors["group_parameters"]
    if stacked.shape != (len(groups), architecture.n_parameters):
        raise InputError(
            f"Expected group_parameters of shape {(len(groups), architecture.n_parameters)}, "
            f"got {stacked.shape}."
        )
    classifier.groups_ = groups
    classifier.classes_ = np.array(plain["classes"])
    classifier.threshold_ = float(plain["threshold"])
    classifier.history_ = ()
    classifier.n_iter_ = 0
    classifier.n_features_in_ = int(plain["features"]["count"])
    if plain["features"]["names"] is not None:
        classifier.feature_names_in_ = np.array(plain["features"]["names"], dtype=object)
    classifier.set_parameters(
        architecture, stacked, free_group_parameters=tensors.get("free_group_parameters")
    )
    _require_same_certificate(plain, classifier)
    if not np.array_equal(classifier.parameters_, tensors["parameters"]):
        raise InputError("the overall parameters in the file are not the centre of the groups'.")
    return classifier


def _architecture(
    plain: Mapping[str, Any], module: nn.Module | None, tensors: Mapping[str, Floats]
) -> AnyNetwork:
    if plain["kind"] != "module":
        return from_plain(plain)
    if module is None:
        raise InputError(
            f"Expected the module {plain['name']} to be given, got none. "
            "A model file holds weights, not code: call load(path, module=...)."
        )
    architecture = build(module, n_features=0, hidden_layer_sizes=(), activation="relu")
    assert isinstance(architecture, ModuleNetwork)
    for name, buffer in architecture.module.named_buffers():
        # A scalar buffer is stored with one entry.
        buffer.copy_(torch.tensor(tensors[_BUFFER + name]).reshape(buffer.shape))
    return architecture


def _require_same_certificate(plain: Mapping[str, Any], classifier: FairSmoothClassifier) -> None:
    stored = Certificate.from_dict(plain["certificate"])
    if stored != classifier.certificate_:
        raise InputError(
            "the certificate in the file is not the certificate of its weights. "
            "Run `fairsmooth verify` on it."
        )


def _plain_parameters(classifier: FairSmoothClassifier) -> dict[str, Any]:
    parameters = classifier.get_params(deep=False)
    parameters.pop("module")
    parameters.pop("callback")
    sizes = parameters["hidden_layer_sizes"]
    parameters["hidden_layer_sizes"] = sizes if isinstance(sizes, int) else list(map(int, sizes))
    if not isinstance(parameters["random_state"], int):
        parameters["random_state"] = None  # a generator's state is not part of a model
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.items()
    }


def _feature_names(classifier: FairSmoothClassifier) -> dict[str, Any]:
    names = getattr(classifier, "feature_names_in_", None)
    return {
        "count": int(classifier.n_features_in_),
        "names": None if names is None else [str(name) for name in names],
    }


def _plain_label(label: Any) -> Any:
    if isinstance(label, tuple):
        return [_plain_label(part) for part in label]
    if label is None or isinstance(label, str | int | float | bool):
        return label
    raise InputError(
        f"Expected labels that are text, numbers or booleans, got {label!r}. "
        "Convert labels to text before fitting."
    )
