"""Tables and roles as the options of a command describe them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairsmooth.cli.output import progress

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.data.roles import Roles


def read(path: Path, *, text: Sequence[str] = (), **how: Any) -> "tuple[pd.DataFrame, list[str]]":
    """Read a whole table; return it with a note on how it was read; see :func:`guesses`."""
    from fairsmooth.data.files import read_table

    notes = guesses(path, **how)
    with progress("reading"):
        return read_table(path, text=text, **how), notes


def guesses(path: Path, **how: Any) -> list[str]:
    """Say how a file is read, where that was guessed from a sample and is out of the ordinary."""
    from fairsmooth.data.files import describe_format

    found = describe_format(path, **how)
    told = found.sniffed and not found.ordinary
    return [f"{path.name} is read as {found}."] if told else []


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
