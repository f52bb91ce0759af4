"""Tables in and out of files: delimited text, Parquet, Excel; whole or in chunks."""

from fairsmooth.data.files.format import FileFormat, describe_format
from fairsmooth.data.files.reading import CHUNK_ROWS, count_rows, read_chunks, read_table
from fairsmooth.data.files.writing import write_chunks

__all__ = [
    "CHUNK_ROWS",
    "FileFormat",
    "count_rows",
    "describe_format",
    "read_chunks",
    "read_table",
    "write_chunks",
]
