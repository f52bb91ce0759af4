"""What kind of file a table is in: told by its name, sniffed over a sample, or said by the user."""

import csv
import io
import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairsmooth import _validate
from fairsmooth.data.files.text import open_text, unreadable
from fairsmooth.exceptions import InputError

SAMPLE_BYTES = 2**16
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt")
PARQUET_ENDINGS = (".parquet", ".pq")
EXCEL_ENDINGS = (".xlsx", ".xlsm")
_LARGEST_HEADER = 2**24
_SIGNATURES = {
    b"PAR1": "a Parquet file",
    b"PK\x03\x04": "an Excel or zip file",
    b"\x1f\x8b": "a gzip file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
}
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}([,.]\d{3})+")


@dataclass(frozen=True)
class FileFormat:
    """How a file holds its table.

    Attributes
    ----------
    kind : {"text", "parquet", "excel"}
    columns : tuple of str
        Names in the header.
    separator, decimal, encoding : str or None
        Of a text file.
    compression : str or None
        ``gzip``, ``zstd`` or ``bz2`` around a text file.
    sniffed : bool
        Whether separator or decimal mark were guessed from a sample.
    n_rows : int or None
        Where it is known without reading the file.
    """

    kind: str
    columns: tuple[str, ...]
    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None
    compression: str | None = None
    sniffed: bool = False
    n_rows: int | None = None

    @property
    def ordinary(self) -> bool:
        """Whether it is what everyone expects: commas between fields, decimal points, UTF-8.

        A file in which no separator was found at all is not.
        """
        expected = (self.separator, self.decimal, self.encoding) == (",", ".", "utf-8")
        return expected and len(self.columns) > 1

    def __str__(self) -> str:
        """Say in one line how the file is read."""
        if self.kind != "text":
            rows = "" if self.n_rows is None else f", {self.n_rows:,} rows"
            return f"{self.kind.capitalize()}, {len(self.columns)} columns{rows}"
        parts = [f"{SEPARATORS.get(str(self.separator), repr(self.separator))}-separated"]
        parts += ["decimal comma"] if self.decimal == "," else []
        parts += [str(self.encoding).upper()] + ([self.compression] if self.compression else [])
        told = f" (guessed from the first {SAMPLE_BYTES // 1024} KiB; --sep and --decimal force it)"
        return ", ".join(parts) + (told if self.sniffed else "")


def describe_format(
    path: str | os.PathLike[str],
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> FileFormat:
    """Tell how a file is read; see :func:`fairsmooth.data.files.read_table`."""
    path = Path(path)
    kind = file_kind(path)
    if kind == "parquet":
        from fairsmooth.data.files.parquet import describe

        return describe(path)
    if kind == "excel":
        from fairsmooth.data.files.excel import describe

        return describe(path)
    return _describe_text(path, sep=sep, decimal=decimal, encoding=encoding)


def file_kind(path: Path) -> str:
    """Tell text, Parquet and Excel apart by the name; a folder holds Parquet files."""
    if path.is_dir():
        return "parquet"
    if not path.is_file():
        raise InputError(f"Expected a table, found no file at {path}.")
    return kind_by_name(path)


def kind_by_name(path: Path) -> str:
    """Tell the kind of a file, which need not exist, by the end of its name."""
    ending = path.suffix.lower()
    if ending in PARQUET_ENDINGS:
        return "parquet"
    if ending in EXCEL_ENDINGS:
        return "excel"
    if ending in COMPRESSIONS:
        ending = Path(path.stem).suffix.lower()
    if ending in TEXT_ENDINGS:
        return "text"
    raise InputError(
        "Expected a file that ends in .csv, .tsv or .txt (also with .gz or .zst), .parquet or "
        f".xlsx, got {path}."
    )


def compression_of(path: Path) -> str | None:
    """Tell the compression of a text file by the end of its name."""
    return COMPRESSIONS.get(path.suffix.lower())


def _describe_text(
    path: Path, *, sep: str | None, decimal: str | None, encoding: str | None
) -> FileFormat:
    if sep == r"\t":  # what a shell makes of a tab in quotes
        sep = "\t"
    if sep is not None and (len(sep.encode()) != 1 or sep in '"\r\n'):
        raise InputError(f"Expected sep to be one character, such as ';', got sep={sep!r}.")
    if decimal is not None:
        _validate.one_of((".", ","), decimal=decimal)
    compression = compression_of(path)
    _refuse_other_contents(path, compression)
    text, encoding = _sample(path, compression, encoding)
    sniffed_sep = sep is None
    if sep is None:
        sep = "\t" if ".tsv" in path.suffixes and "\t" in text else sniff_separator(text)
    try:
        rows = _records(text, sep)
    except csv.Error as error:
        raise unreadable(path, error) from error
    if not rows:
        raise InputError(f"Expected a table with a header, got an empty file: {path}.")
    if sniffed_decimal := decimal is None:
        decimal = sniff_decimal(rows[1:], sep)
    return FileFormat(
        "text",
        tuple(name.strip() for name in rows[0]), sep, decimal, encoding, compression,
        sniffed=sniffed_sep or sniffed_decimal,
    )  # fmt: skip


def _refuse_other_contents(path: Path, compression: str | None) -> None:
    with path.open("rb") as file:
        start = file.read(4)
    for signature, name in _SIGNATURES.items():
        if compression is None and start.startswith(signature):
            raise InputError(
                f"Expected text in {path}, got {name}. Give the file the ending of what it is."
            )


def _sample(path: Path, compression: str | None, encoding: str | None) -> tuple[str, str]:
    """Return whole records from the start of a file, at least its header."""
    size = SAMPLE_BYTES
    while True:
        stream = open_text(path, compression, encoding)
        with io.BufferedReader(stream) as file:
            contents = file.read(size)
            text = contents.decode("utf-8", errors="replace")
            if len(contents) < size:
                return text, stream.encoding
        if text.count("\n") > 1 or size > _LARGEST_HEADER:
            return text[: text.rindex("\n") + 1] if "\n" in text else text, stream.encoding
        size *= 8


def sniff_separator(text: str) -> str:
    """Guess the separator: the one that cuts most records into as many fields as the header."""
    best, score = ",", (0.0, 1)
    for candidate in SEPARATORS:
        try:
            rows = _records(text, candidate)
        except csv.Error:  # a field too long, since this is not what separates
            continue
        fields = len(rows[0]) if rows else 0
        if fields < 2:
            continue
        fitting = sum(len(row) == fields for row in rows) / len(rows)
        if (fitting, fields) > score:
            best, score = candidate, (fitting, fields)
    return best


def sniff_decimal(rows: Sequence[Sequence[str]], sep: str) -> str:
    """Guess the decimal mark: a comma if more fields are numbers with it than with a point.

    "1,234" and "1.234" may be a thousand: where there are no others, a comma is taken for
    a decimal mark between semicolons only, where it made the separator another.
    """
    if sep == ",":
        return "."
    fields = [field.strip() for field in itertools.chain.from_iterable(rows)]
    commas = [field for field in fields if _DECIMAL_COMMA.fullmatch(field)]
    points = [field for field in fields if _DECIMAL_POINT.fullmatch(field)]
    certain = [
        sum(not _THOUSANDS.fullmatch(field) for field in found) for found in (commas, points)
    ]
    if any(certain):
        return "," if certain[0] > certain[1] else "."
    return "," if sep == ";" and len(commas) > len(points) else "."


def _records(text: str, sep: str) -> list[list[str]]:
    # The reader's own limit would refuse a long field in the sample that is read anywhere else.
    usual = csv.field_size_limit(max(len(text), csv.field_size_limit()))
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=sep) if row]
    finally:
        csv.field_size_limit(usual)
