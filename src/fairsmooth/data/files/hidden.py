"""Folders whose names are hidden: other programs keep what is no row of a table there."""

from pathlib import Path

from fairsmooth.data.files.parquet import files_of
from fairsmooth.exceptions import InputError

_HIDDEN = (".", "_")


def require_none_hidden(path: Path) -> Path:
    """Return the path of a table, unless files in hidden folders below it would count as rows.

    Raises
    ------
    InputError
        If there are any, as in the log of a Delta table or what a job left half-written.
    """
    if not path.is_dir():
        return path
    within = [file.relative_to(path) for file in files_of(path)]
    hidden = [file for file in within if any(name.startswith(_HIDDEN) for name in file.parts[:-1])]
    if hidden:
        raise InputError(
            f"Expected no Parquet files in hidden folders of {path.name}, got {len(hidden)}, the "
            f"first being {hidden[0].as_posix()}. Give a folder with the table's own files only."
        )
    return path
