"""Where a model came from: columns, rows, seed, versions, date."""

import datetime
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import distribution, version
from typing import Any

import fairsmooth
from fairsmooth.data.banding import Banding
from fairsmooth.data.roles import Roles
from fairsmooth.exceptions import InputError

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,15})")
_LIBRARIES = ("numpy", "pandas", "pyarrow", "scikit-learn", "scipy", "torch")
# What a model needs to be one of a table; the rest of the notes tell where it came from.
_NEEDED = ("label", "positive", "negative", "sensitive")


@dataclass(frozen=True)
class Provenance:
    """What a model file says about its training.

    Attributes
    ----------
    label : str
        The column that is predicted.
    positive, negative : text, number or bool
        Its two values; a row is selected where the positive one is predicted.
    sensitive : tuple of str
        The columns whose combinations are the groups.
    ids : tuple of str
        Columns that name a row; they are carried along and not used.
    drop : tuple of str
        Columns that were not used.
    include_sensitive : bool
        Whether the sensitive columns are features too.
    bands : dict
        Edges of the bands of numeric sensitive columns, by column.
    rows : int
        Number of training rows.
    held_out : int or None
        Number of rows of the same table that training has not seen; None if unknown.
    seed, test_size
        Of the split into the two.
    digest : str or None
        SHA-256 of the table that both parts come from.
    versions : dict
        Of the libraries.
    date : str
        Of the training, in UTC.
    notes : tuple of str
        What was noticed about the table, one line each.
    id_digests : dict
        Salted digests of the ids of training rows, if ids were named.
    """

    label: str
    positive: Any
    negative: Any
    sensitive: tuple[str, ...]
    ids: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    include_sensitive: bool = False
    bands: Mapping[str, Any] = field(default_factory=dict)
    rows: int = 0
    held_out: int | None = None
    seed: int | None = None
    test_size: float | None = None
    digest: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    date: str = ""
    notes: tuple[str, ...] = ()
    id_digests: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Provenance":
        """Rebuild it from the notes of a model file, of any version.

        Raises
        ------
        InputError
            If the file was saved without the columns of a table.
        """
        if not all(name in plain for name in _NEEDED):
            raise InputError(
                "Expected the model of a table, got a classifier that was saved without the "
                "names of its label and sensitive columns. Train it with `fairsmooth train` or "
                "TableModel.fit, or audit it in Python with fairsmooth.metrics.audit."
            )
        known: dict[str, Any] = {
            name: tuple(plain[name]) if isinstance(plain[name], list) else plain[name]
            for name in cls.__dataclass_fields__
            if name in plain
        }
        return cls(**known)

    def roles(self) -> Roles:
        """Return which column of a table plays which part for this model."""
        return Roles(
            label=self.label,
            sensitive=self.sensitive,
            positive=self.positive,
            drop=self.drop,
            include_sensitive=self.include_sensitive,
            ids=self.ids,
            bandings=tuple(Banding(name, tuple(edges)) for name, edges in self.bands.items()),
        )

    @property
    def selected(self) -> str:
        """What it means for a row to be selected, in words."""
        return f"A row is selected where {self.label} = {_text(self.positive)} is predicted"

    def lines(self) -> list[str]:
        """Return the provenance in plain words."""
        lines = [
            f"{self.selected}; the other value is {_text(self.negative)}.",
            f"Groups: {' and '.join(self.sensitive)}"
            + (" (also features)." if self.include_sensitive else " (not a feature)."),
            f"Trained on {self.rows:,} rows" + self._held_out() + self._when() + ".",
        ]
        if self.digest is not None:
            lines.append(f"Table: SHA-256 {self.digest}.")
        return lines

    def _held_out(self) -> str:
        return "" if self.held_out is None else f", {self.held_out:,} of the same table held out"

    def _when(self) -> str:
        library = self.versions.get("fairsmooth")
        known = [self.date] if self.date else []
        known += [f"fairsmooth {library}"] if library else []
        return f" ({', '.join(known)})" if known else ""


def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that training depends on."""
    own = {"fairsmooth": fairsmooth.__version__, "python": platform.python_version()}
    return own | {name: _version(name) for name in _LIBRARIES}


def _version(name: str) -> str:
    """Read the one line that says it: parsing all that a library says of itself takes longer."""
    written = distribution(name).read_text("METADATA") or ""
    found = re.search(r"^Version: *(\S+)", written, re.MULTILINE)
    return found[1] if found else version(name)


def today() -> str:
    """Return the date in UTC; ``SOURCE_DATE_EPOCH`` overrides it, for files that must not vary."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdecimal() and len(epoch) < 12:
        return datetime.datetime.fromtimestamp(int(epoch), datetime.UTC).date().isoformat()
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def plain_value(text: str) -> Any:
    """Return the whole number, or true or false, that a label's text stands for, if it does.

    Examples
    --------
    >>> [plain_value(text) for text in ("1", "True", "01", "good")]
    [1, True, '01', 'good']
    """
    if text in ("True", "False"):
        return text == "True"
    return int(text) if _WHOLE.fullmatch(text) else text


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)
