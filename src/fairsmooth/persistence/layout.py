"""The bytes of a model file: safetensors for the weights, canonical JSON for the rest.

Nothing in the file is code. A digest covers the text and every tensor, and the
same model always gives the same bytes.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from fairsmooth import _atomic
from fairsmooth._types import Floats
from fairsmooth.exceptions import ModelFileError

MAX_BYTES = 2**30
# A few bytes say whether a file was ever one of ours; one damaged byte hides one of them.
_SIGNS = (b'"fairsmooth":', b'"group_parameters":', rb"\"certificate\":")
_SIGHT = 2**20


@dataclass(frozen=True)
class Bytes:
    """What a model file holds before anything in it is believed."""

    text: str
    tensors: Mapping[str, Floats]


def canonical(plain: Any) -> str:
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


def write(path: str | os.PathLike[str], text: str, tensors: Mapping[str, Floats]) -> None:
    """Write a file atomically: the whole of it or nothing."""
    ordered = {name: np.ascontiguousarray(tensors[name]) for name in sorted(tensors)}
    metadata = {"fairsmooth": text, "digest": digest(text, ordered)}
    _atomic.write_bytes(path, _same_bytes(to_bytes(ordered, metadata=metadata)))


def read(path: str | os.PathLike[str]) -> Bytes:
    """Read a file, and check that it is as it was written."""
    path = Path(path)
    if not path.is_file():
        raise ModelFileError(f"Expected a model file, found none at {path}.")
    if path.stat().st_size > MAX_BYTES:
        raise ModelFileError(
            f"Expected a model file of at most {MAX_BYTES} bytes, got more: {path}."
        )
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            text, stated = metadata["fairsmooth"], metadata["digest"]
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, KeyError, ValueError, TypeError, OSError) as error:
        raise ModelFileError(
            f"Expected a model file of this library, got {path}, which is "
            f"{'damaged' if _was_a_model(path) else 'something else'} ({error})."
        ) from error
    if digest(text, tensors) != stated:
        raise ModelFileError(
            f"Expected {path} as it was written, got other contents: its digest does not match. "
            "The file was altered or damaged; use the original."
        )
    return Bytes(text, tensors)


def stated_digest(path: str | os.PathLike[str]) -> str:
    """Return the digest of all that a file holds; :func:`read` checks it."""
    with safe_open(path, framework="numpy") as file:
        return str(file.metadata()["digest"])


def _was_a_model(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_SIGHT)
    return sum(sign in head for sign in _SIGNS) >= 2


def _same_bytes(contents: bytes) -> bytes:
    """Sort the header of a safetensors file, so that the same model gives the same bytes.

    The library keeps metadata in a hash map, whose order changes from call to call.
    """
    size = int.from_bytes(contents[:8], "little")
    header = json.loads(contents[8 : 8 + size])
    text = canonical(header).encode()
    text += b" " * (-len(text) % 8)  # the format wants the data aligned
    return len(text).to_bytes(8, "little") + text + contents[8 + size :]
