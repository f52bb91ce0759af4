"""Tables and roles as the options of a command describe them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairsmooth.cli.output import progress

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.data.files.stored import StoredTable
    from fairsmooth.data.roles import Roles


def read(path: Path, *, text: Sequence[str] = (), **how: Any) -> "tuple[pd.DataFrame, list[str]]":
    """Read a whole table; return it with a note on how it was read; see :func:`guesses`."""
    from fairsmooth.data.files import read_table

    notes = guesses(path, **how)
    with progress("reading"):
        return read_table(path, text=text, **how), notes


# Columns of which a note says that only some files have them.
_SHOWN = 5
# Rows times columns from which on a Parquet file stays where it is: in memory, and coded, it
# would take a gigabyte and more.
STORED_VALUES = 2**24


def opened(
    path: Path, *, whole: str | None = None, text: Sequence[str] = (), **how: Any
) -> "tuple[pd.DataFrame | StoredTable, list[str]]":
    """Open a table: a folder of Parquet files, or a large one, stays in its files.

    ``whole`` says why the table must be in memory all the same, if it must.
    """
    if not stays_stored(path):
        return read(path, text=text, **how)
    from fairsmooth.data.files.stored import StoredTable

    table = StoredTable.at(path, text=text)
    if whole is not None:
        found, notes = read(path, text=text, **how)
        return found, [*notes, f"{path.name} is read into memory as a whole: {whole}."]
    told = f"{path.name} stays in its files: {len(table):,} rows are read in pieces."
    return table, [*guesses(path, **how), told]


def stays_stored(path: Path) -> bool:
    """Tell whether a table is read in pieces: any folder, and large Parquet files."""
    from fairsmooth.data.files.format import file_kind
    from fairsmooth.data.files.parquet import Parquet

    if file_kind(path) != "parquet":
        return False
    if path.is_dir():
        return True
    table = Parquet(path)
    return table.n_rows * len(table.names) >= STORED_VALUES


def guesses(path: Path, **how: Any) -> list[str]:
    """Say how a file is read, where that was guessed from a sample and is out of the ordinary."""
    from fairsmooth.data.files import describe_format
    from fairsmooth.data.files.hidden import require_none_hidden
    from fairsmooth.data.files.parquet import others_in

    found = describe_format(require_none_hidden(path), **how)
    told = found.sniffed and not found.ordinary
    notes = [f"{path.name} is read as {found}."] if told else []
    if others := others_in(path):
        notes.append(
            f"{len(others)} files in {path.name} are not Parquet and no part of the table: "
            f"{', '.join(others[:3])}{', …' if len(others) > 3 else ''}."
        )
    return [*notes, *_absences(path)]


def _absences(path: Path) -> list[str]:
    """Say which columns only some files of a folder have."""
    from fairsmooth.data.files.parquet import Parquet, files_of

    if not path.is_dir():
        return []
    absent = list(Parquet(path).absent.items())
    files = len(files_of(path))
    notes = [
        f"Column {name!r} is not in {count} of {files} files of {path.name}; it is missing in "
        "their rows."
        for name, count in absent[:_SHOWN]
    ]
    more = len(absent) - _SHOWN
    return [*notes, f"{more} more columns are in some files only."] if more > 0 else notes


def roles_of(
    label: str,
    sensitive: Sequence[str],
    positive: str | None,
    drop: Sequence[str] | None,
    ids: Sequence[str] | None,
    *,
    include_sensitive: bool = False,
    unknown: str | None = "error",
) -> "Roles":
    """Return the roles that the options name."""
    from fairsmooth import _validate
    from fairsmooth.data.encoding import UNKNOWN
    from fairsmooth.data.roles import Roles

    _validate.one_of(UNKNOWN, unknown=str(unknown))
    return Roles(
        label=label,
        sensitive=tuple(sensitive),
        positive=positive,
        drop=tuple(drop or ()),
        include_sensitive=include_sensitive,
        unknown=str(unknown),
        ids=tuple(ids or ()),
    )
