"""The bytes of a text file as clean UTF-8: decompressed, decoded, free of NUL bytes."""

import codecs
import io
import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from fairsmooth.exceptions import InputError

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BLOCK = 2**20


def open_text(path: Path, compression: str | None, encoding: str | None) -> "Utf8Stream":
    """Open a text file; without an encoding it is what its byte order mark says, or UTF-8."""
    if encoding is not None:
        try:
            "".encode(encoding)  # a codec of something else than text, such as base64, is none
        except (LookupError, UnicodeError) as error:
            raise InputError(
                f"Expected a known encoding, such as 'latin-1', got encoding={encoding!r}."
            ) from error
    try:
        source = pa.input_stream(os.fspath(path), compression=compression)
        return Utf8Stream(path, source, encoding)
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> InputError:
    """Turn an error of the reader into one line."""
    return InputError(f"Expected a table in text form, got {path}: {str(error).splitlines()[0]}.")


class Utf8Stream(io.RawIOBase):
    """UTF-8 bytes of a file: no mark, no blank lines before the header, a line end at the end."""

    def __init__(self, path: Path, source: Any, encoding: str | None) -> None:
        self._path = path
        self._source = source
        first = source.read(_BLOCK)
        mark = next((mark for mark in _MARKS if first.startswith(mark)), b"")
        self.encoding = encoding or _MARKS.get(mark, "utf-8")
        if codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig"):
            first, self.encoding = first.removeprefix(codecs.BOM_UTF8), "utf-8"
        self._decoder = codecs.getincrementaldecoder(self.encoding)()
        self._line = 1
        self._last = b"\n"
        self._begun = False
        self._pending = self._clean(first)

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        while not self._pending:
            raw = self._source.read(_BLOCK)
            if not raw:
                return self._end(buffer)
            self._pending = self._clean(raw)
        size = min(len(buffer), len(self._pending))
        buffer[:size] = self._pending[:size]
        self._pending = self._pending[size:]
        return size

    def _end(self, buffer: Any) -> int:
        self._decode(b"", final=True)
        if self._last in (b"\n", b"\r"):
            return 0
        buffer[:1] = self._last = b"\n"
        return 1

    def _clean(self, raw: bytes) -> memoryview:
        text = self._decode(raw, final=False)
        if not self._begun:
            kept = text.lstrip(b"\r\n")
            self._line += text[: len(text) - len(kept)].count(b"\n")
            self._begun, text = bool(kept), kept
        place = text.find(b"\0")
        if place >= 0:
            line = self._line + text[:place].count(b"\n")
            raise InputError(
                f"Expected text in {self._path}, got a NUL byte in line {line}. "
                "Is it another kind of file, or another encoding?"
            )
        self._line += text.count(b"\n")
        self._last = text[-1:] or self._last
        return memoryview(text)

    def _decode(self, raw: bytes, *, final: bool) -> bytes:
        try:
            text = self._decoder.decode(raw, final)
        except UnicodeError as error:
            # A missing byte order mark has no place.
            line = self._line + raw[: getattr(error, "start", 0)].count(b"\n")
            raise InputError(
                f"Expected {self.encoding.upper()} text in {self._path}, got other bytes near "
                f"line {line}. Name its encoding, such as latin-1 or cp1252."
            ) from error
        return raw if self.encoding == "utf-8" and text.isascii() else text.encode()

    def close(self) -> None:
        """Close the file."""
        self._source.close()
        super().close()
