"""Tables and roles as the options of a command describe them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairsmooth.cli.output import progress, say

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.data.roles import Roles


def read(
    path: Path, *, sep: str | None = None, decimal: str | None = None, encoding: str | None = None
) -> "pd.DataFrame":
    """Read a whole table, and say how where that was guessed."""
    from fairsmooth.data.files import describe_format, read_table

    found = describe_format(path, sep=sep, decimal=decimal, encoding=encoding)
    if found.sniffed:
        say(f"Reading {path.name} as {found}.")
    with progress("reading"):
        return read_table(path, sep=sep, decimal=decimal, encoding=encoding)


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
        label, tuple(sensitive), positive, tuple(drop or ()), include_sensitive, str(unknown)
    )
