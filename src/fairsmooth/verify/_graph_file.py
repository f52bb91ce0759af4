"""The bytes of an ONNX file: its constants, and the model file that it carries."""

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairsmooth.exceptions import ModelFileError

_MAX_BYTES = 2**30
# Where a constant of ONNX may hold its values.
_HOLDERS = (
    *("raw_data", "float_data", "double_data", "string_data"),
    *("int32_data", "int64_data", "uint64_data"),
)


@dataclass(frozen=True)
class Opened:
    """An ONNX file, and the model file inside it."""

    proto: Any
    metadata: Mapping[str, str]
    constants: dict[str, Any]
    model: bytes


def open_graph(path: str | os.PathLike[str]) -> Opened:
    """Read an ONNX file of ours, or raise :class:`ModelFileError` with the reason."""
    try:
        import onnx
    except ImportError as error:
        raise ModelFileError(
            "Expected the package onnx, which reads these files, found none. "
            "Install it with pip install 'fairsmooth[onnx]'."
        ) from error
    try:
        if not Path(path).is_file() or Path(path).stat().st_size > _MAX_BYTES:
            raise ModelFileError(f"Expected an ONNX file of at most {_MAX_BYTES} bytes, got none.")
        proto = onnx.ModelProto()
        proto.ParseFromString(Path(path).read_bytes())
        metadata = {entry.key: entry.value for entry in proto.metadata_props}
        if len(metadata) != len(proto.metadata_props):
            raise ModelFileError("Expected every entry of the metadata once, got one twice.")
        model = base64.b64decode(metadata["model"], validate=True)
        outside = [t.name for t in proto.graph.initializer if t.external_data or t.data_location]
        if outside:
            raise ModelFileError(f"Expected constants inside the file, got {outside[0]!r} outside.")
        constants = {t.name: _values(onnx, t) for t in map(_unmistakable, proto.graph.initializer)}
        if len(constants) != len(proto.graph.initializer):
            raise ModelFileError("Expected every constant once, got one twice.")
    except (OSError, KeyError, ValueError, TypeError, binascii.Error, RuntimeError) as error:
        raise _no_graph(path, error) from error
    except Exception as error:  # protobuf's own error has no common base
        if type(error).__module__.startswith("google.protobuf"):
            raise _no_graph(path, error) from error
        raise
    return Opened(proto, metadata, constants, model)


def _no_graph(path: str | os.PathLike[str], error: Exception) -> ModelFileError:
    return ModelFileError(
        f"Expected an ONNX file written by fairsmooth export, got {os.fspath(path)}: {error}"
    )


def _unmistakable(tensor: Any) -> Any:
    """Return a constant that every reader reads alike: one place for its values, plain sizes."""
    held = [name for name in _HOLDERS if len(getattr(tensor, name))]
    if len(held) > 1 or any(size < 0 for size in tensor.dims):
        raise ModelFileError(f"Expected a constant with one reading, got {tensor.name!r}.")
    return tensor


def _values(onnx: Any, tensor: Any) -> Any:
    array = onnx.numpy_helper.to_array(tensor)
    if tensor.data_type == onnx.TensorProto.STRING:
        return [text if isinstance(text, str) else text.decode() for text in array.tolist()]
    return array


def model_inside(path: str | os.PathLike[str]) -> bytes:
    """Return the model file that an ONNX file carries, as it is."""
    return open_graph(path).model
