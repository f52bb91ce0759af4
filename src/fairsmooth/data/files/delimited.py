"""Delimited text, read by pyarrow, all fields as text: what they are is decided afterwards."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from fairsmooth.data.files.format import FileFormat
from fairsmooth.data.files.text import open_text, unreadable
from fairsmooth.data.frames import check_names
from fairsmooth.exceptions import InputError

_BLOCK = 2**23


@dataclass(frozen=True)
class Delimited:
    """A text file whose rows can be read again and again."""

    path: Path
    format: FileFormat

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return check_names(list(self.format.columns))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Read all rows, field by field as text."""
        names = self.names
        placeholders = [str(place) for place in range(len(names))]
        with self._opened() as stream:
            try:
                reader = pa.csv.open_csv(
                    stream,
                    read_options=pa.csv.ReadOptions(
                        column_names=placeholders, skip_rows_after_names=1, block_size=_BLOCK
                    ),
                    parse_options=pa.csv.ParseOptions(
                        delimiter=self.format.separator, newlines_in_values=True
                    ),
                    convert_options=pa.csv.ConvertOptions(
                        column_types=dict.fromkeys(placeholders, pa.string()),
                        strings_can_be_null=False,
                    ),
                )
                for batch in reader:
                    yield batch.rename_columns(names)
            except pa.ArrowInvalid as error:
                raise self._explained(error) from error
            except OSError as error:  # a compressed file that was cut
                raise unreadable(self.path, error) from error

    def _opened(self) -> io.BufferedReader:
        return io.BufferedReader(
            open_text(self.path, self.format.compression, self.format.encoding)
        )

    def _explained(self, error: Exception) -> InputError:
        expected = len(self.format.columns)
        with io.TextIOWrapper(self._opened(), encoding="utf-8", newline="") as lines:
            reader = csv.reader(lines, delimiter=self.format.separator or ",")
            try:
                for row in reader:
                    if row and len(row) != expected:
                        return InputError(
                            f"Expected {expected} fields in every line of {self.path}, as in its "
                            f"header, got {len(row)} in line {reader.line_num}. Correct the line "
                            "(put quotes around a field that holds the separator)."
                        )
            except csv.Error:
                pass
        return unreadable(self.path, error)
