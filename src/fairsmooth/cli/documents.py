"""JSON files that commands write for one another."""

import json
from pathlib import Path
from typing import Any

from fairsmooth.exceptions import InputError, ModelFileError

_MAX_BYTES = 64 * 2**20


def read_document(path: Path, what: str) -> dict[str, Any]:
    """Read a JSON object; ``what`` says for errors what it should be.

    A key that occurs twice is refused, and so is a number that is none: of two bounds a reader may
    see the one and this library the other.
    """
    from fairsmooth.verify import parse_object

    if not path.is_file() or path.stat().st_size > _MAX_BYTES:
        raise InputError(f"Expected {what}, found none at {path}.")
    try:
        return parse_object(path.read_text(encoding="utf-8"), where="file")
    except ModelFileError as error:
        raise InputError(f"Expected {what}, got {path}: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"Expected {what}, got {path}: {error}.") from error


def write_document(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON object, whole or not at all."""
    from fairsmooth._atomic import write_bytes

    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
    write_bytes(path, f"{text}\n".encode())
