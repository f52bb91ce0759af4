"""Where a command will write, checked before any work: never over what it reads."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from fairsmooth._atomic import unwritable
from fairsmooth.exceptions import InputError


def require_target(path: Path, *, inputs: Iterable[Path], others: Iterable[Path] = ()) -> Path:
    """Refuse a file to write that is an input, another output, a folder, or out of reach.

    Two spellings of one file, links included, are the same file.
    """
    for source in inputs:
        if same_file(path, source) or (source.is_dir() and _inside(path, source)):
            raise InputError(
                f"Expected an output other than the input, got {path} for both. "
                "The original would be gone; choose another name."
            )
    for other in others:
        if same_file(path, other):
            raise InputError(f"Expected two outputs with different names, got {path} twice.")
    if path.is_dir() or not path.name:
        raise InputError(f"Expected a file to write, got the folder {path}.")
    _require_writable(path)
    return path


def require_folder(folder: Path, names: Iterable[str], *, inputs: Iterable[Path]) -> Path:
    """Refuse a folder to write into that cannot be made, or whose files to come are inputs.

    The folder itself is made when there is something to write.
    """
    inputs = list(inputs)
    for source in inputs:
        if source.is_dir() and (same_file(folder, source) or _inside(folder, source)):
            raise InputError(
                f"Expected a folder to write outside the input, got {folder} in {source}. "
                "What is written there would be read as a part of the table."
            )
    if folder.is_dir():
        for name in names:
            require_target(folder / name, inputs=inputs)
        return folder
    nearest = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    _require_writable(nearest / folder.name)
    return folder


def same_file(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file, by links or by spelling."""
    try:
        if one.samefile(other):
            return True
    except OSError:
        pass
    return os.path.realpath(one) == os.path.realpath(other)


def _inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents


def _require_writable(path: Path) -> None:
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:40]}."):
            pass
    except OSError as error:
        raise unwritable(path, error) from error
