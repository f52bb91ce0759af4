"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairsmooth.exceptions import InputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; on success it takes that path's place.

    If the block fails, the temporary file is removed and whatever was at
    ``path`` before is left as it was.
    """
    path = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
    except OSError as error:
        raise unwritable(path, error) from error
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable(path, error) from error
        raise


def write_bytes(path: str | os.PathLike[str], contents: bytes) -> None:
    """Write a file atomically."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(contents)
        file.flush()
        os.fsync(file.fileno())


def ensure_folder(path: str | os.PathLike[str]) -> Path:
    """Create a folder if need be, or say in one line why that cannot be done."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    return folder


def unwritable(path: Path, error: OSError) -> InputError:
    """Turn an error of the operating system into one line."""
    return InputError(
        f"Expected to be able to write {path}, got: {error.strerror or error}. "
        "Choose a folder that exists and can be written to."
    )


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
