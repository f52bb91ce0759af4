"""Append-only records: one JSON line per finished job, on disk before it counts."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fairsmooth import _atomic
from fairsmooth.exceptions import InputError
from fairsmooth.experiments.run.job import key_of

FILE = "records.jsonl"

JobRecord = dict[str, Any]


class Store:
    """Finished jobs of a folder, by key.

    A record is written with one call and flushed to disk. If the process dies
    within that call the last line is torn; it is cut off when the folder is
    opened again, and its job runs again.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> Store(folder).append({"key": "a", "status": "done"})
    >>> "a" in Store(folder)
    True
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = _atomic.ensure_folder(folder) / FILE
        # The last of several records of a job counts; none is ever thrown away.
        self._records: dict[str, JobRecord] = {_key(record): record for record in _read(self.path)}

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def __getitem__(self, key: str) -> JobRecord:
        return self._records[key]

    def __len__(self) -> int:
        return len(self._records)

    def get(self, key: str) -> JobRecord | None:
        """Return the record of a job, or None if it has not run."""
        return self._records.get(key)

    def append(self, record: Mapping[str, Any]) -> None:
        """Add one record; once this returns, it survives a crash of the machine."""
        line = json.dumps(record, separators=(",", ":"), allow_nan=False) + "\n"
        try:
            with self.path.open("ab") as file:
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _atomic.unwritable(self.path, error) from error
        self._records[record["key"]] = dict(record)


def _key(record: JobRecord) -> str:
    """Return the key of a record's job, also where it was written when keys were made otherwise."""
    return key_of(record["job"]) if "job" in record else str(record["key"])


def _read(path: Path) -> Iterator[JobRecord]:
    if not path.exists():
        return
    contents = path.read_bytes()
    whole = contents[: contents.rfind(b"\n") + 1]
    if len(whole) < len(contents):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise InputError(
                f"Expected {path} to hold one JSON record per line, got something else in line "
                f"{number}. Move the file away to start afresh."
            ) from error
