"""The bytes of a model file: its own strict reading of the safetensors layout.

The layout is eight bytes with the length of a JSON header, the header, and the
tensors without gaps. Nothing is allocated before the sizes have been compared
with the size of the file.
"""

import hashlib
import math
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fairsmooth.exceptions import ModelFileError
from fairsmooth.verify._json import Object, parse_object

# Its own: the verifier shares no code with what it checks.
Floats = NDArray[np.float64]

MAX_HEADER_BYTES = 16 * 2**20
MAX_FILE_BYTES = 4 * 2**30
_LENGTH_BYTES = 8
# Signs that a file was once a model of ours; a damaged byte hides one of them at most.
_SIGNS = (b'"fairsmooth":', b'"group_parameters":', rb"\"certificate\":")
_SIGHT = 2**20
_FLOAT_BYTES = 8


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds: the text of its description, the digest, the tensors."""

    description: str
    digest: str
    tensors: dict[str, Floats]

    def recomputed_digest(self, text: str | None = None) -> str:
        """Hash a text, then name, type, shape and bytes of every tensor by name.

        The text is the description, unless another is given.
        """
        state = hashlib.sha256((self.description if text is None else text).encode())
        for name, tensor in sorted(self.tensors.items()):
            shape = ",".join(map(str, tensor.shape))
            state.update(f"{name}\0float64\0{shape}\0".encode())
            state.update(tensor.astype("<f8").tobytes())
        return state.hexdigest()


def read_model_file(path: str | os.PathLike[str]) -> ModelFile:
    """Read a model file, or raise :class:`ModelFileError` with the reason."""
    try:
        with Path(path).open("rb") as stream:
            size = _regular_size(stream)
            header = _read_header(stream, size=size)
            body_size = size - stream.tell()
            description, digest = _metadata(header.pop("__metadata__", None))
            spans = _spans(header, body_size=body_size)
            body = stream.read(body_size)
    except OSError as error:
        raise ModelFileError(f"Expected a readable file, got: {error.strerror}.") from error
    except ValueError as error:  # a null byte in the path
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"Expected the path of a file, got: {error}.") from error
    if len(body) != body_size:
        raise ModelFileError(f"Expected {body_size} bytes of tensors, got {len(body)}.")
    tensors = {
        name: np.frombuffer(body, "<f8", math.prod(shape), start).reshape(shape)
        for name, (shape, start) in spans.items()
    }
    return ModelFile(description, digest, tensors)


def was_a_model(path: str | os.PathLike[str]) -> bool:
    """Tell a damaged model file from a file that never was one."""
    try:
        with Path(path).open("rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return False
            head = stream.read(_SIGHT)
    except (OSError, ValueError):
        return False
    signs = sum(sign in head for sign in _SIGNS)
    return signs >= 1 and signs + head.startswith(b"{", _LENGTH_BYTES) >= 2


def _regular_size(stream: BinaryIO) -> int:
    status = os.fstat(stream.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise ModelFileError("Expected a regular file, got a device, pipe or directory.")
    if not _LENGTH_BYTES < status.st_size <= MAX_FILE_BYTES:
        raise ModelFileError(
            f"Expected a file of at most {MAX_FILE_BYTES} bytes and more than {_LENGTH_BYTES}, "
            f"got {status.st_size} bytes."
        )
    return status.st_size


def _read_header(stream: BinaryIO, *, size: int) -> Object:
    length = int.from_bytes(stream.read(_LENGTH_BYTES), "little")
    limit = min(MAX_HEADER_BYTES, size - _LENGTH_BYTES)
    if not 0 < length <= limit:
        raise ModelFileError(f"Expected a header of 1 to {limit} bytes, got {length} bytes.")
    try:
        text = stream.read(length).decode()
    except UnicodeDecodeError as error:
        raise ModelFileError(f"Expected the header in UTF-8, got: {error.reason}.") from error
    return parse_object(text, where="header")


def _metadata(metadata: Any) -> tuple[str, str]:
    if not isinstance(metadata, dict) or set(metadata) != {"fairsmooth", "digest"}:
        raise ModelFileError(
            "Expected metadata with exactly 'fairsmooth' and 'digest', got something else; "
            "the file was not written by this library."
        )
    description, digest = metadata["fairsmooth"], metadata["digest"]
    if not isinstance(description, str) or not isinstance(digest, str):
        raise ModelFileError("Expected both metadata entries to be text, got something else.")
    try:
        description.encode()
    except UnicodeEncodeError as error:
        raise ModelFileError(f"Expected a description in Unicode, got: {error.reason}.") from error
    return description, digest


def _spans(header: Object, *, body_size: int) -> dict[str, tuple[tuple[int, ...], int]]:
    """Return shape and first byte of every tensor; together they must fill the body."""
    spans = {name: _span(name, entry) for name, entry in header.items()}
    position = 0
    for name, (shape, start) in sorted(spans.items(), key=lambda item: item[1][1]):
        if start != position:
            raise ModelFileError(
                f"Expected tensor {name!r} to start at byte {position}, got {start}."
            )
        position += math.prod(shape) * _FLOAT_BYTES
    if position != body_size:
        raise ModelFileError(f"Expected {position} bytes of tensors, got {body_size}.")
    return spans


def _span(name: str, entry: Any) -> tuple[tuple[int, ...], int]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(
            f"Expected dtype, shape and data_offsets of tensor {name!r}, got something else."
        )
    if entry["dtype"] != "F64":
        raise ModelFileError(f"Expected tensor {name!r} in F64, got {entry['dtype']!r}.")
    shape, offsets = _sizes(entry["shape"]), _sizes(entry["data_offsets"])
    if shape is None or offsets is None or len(offsets) != 2 or 0 in shape:
        raise ModelFileError(f"Expected positive sizes of tensor {name!r}, got something else.")
    if offsets[1] - offsets[0] != math.prod(shape) * _FLOAT_BYTES:
        raise ModelFileError(f"Expected tensor {name!r} to fill its bytes, got another size.")
    return shape, offsets[0]


def _sizes(values: Any) -> tuple[int, ...] | None:
    """Return a list of at most eight whole numbers of at least 0 as a tuple."""
    if not isinstance(values, list) or len(values) > 8:
        return None
    whole = all(type(value) is int and 0 <= value <= MAX_FILE_BYTES for value in values)
    return tuple(values) if whole else None
