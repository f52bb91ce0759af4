"""The file of a search: whose it is, and one line per finished trial."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from fairsmooth._atomic import ensure_folder, unwritable
from fairsmooth.exceptions import InputError
from fairsmooth.tuning.judged import FoldCounts, Judged

try:
    import fcntl
except ImportError:  # pragma: no cover - a system without advisory locks
    fcntl = None  # type: ignore[assignment]

_FORMAT = 2


@dataclass(frozen=True)
class TrialRecord:
    """One trial that has ended: all that is needed to run it again, and all that it showed.

    Attributes
    ----------
    number : int
        Its place in the sequence, from 0.
    params : dict
        What the sampler chose, as plain values.
    seed : int
        Of every training in it.
    folds : tuple of FoldCounts
        Decisions on the folds it was judged on, in order.
    stopped : str or None
        Why it saw no more folds; None if it saw all.
    converged : bool
        Whether every training met its tolerance.
    seconds : float
    """

    number: int
    params: Mapping[str, Any]
    seed: int
    folds: tuple[FoldCounts, ...]
    stopped: str | None
    converged: bool
    seconds: float

    @property
    def judged(self) -> Judged:
        """The folds, pooled."""
        return Judged(self.folds)

    @property
    def finished(self) -> bool:
        """Whether it was judged on all folds."""
        return self.stopped is None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        folds = [fold.to_dict() for fold in self.folds]
        return {**vars(self), "params": dict(self.params), "folds": folds}


class RecordsFile:
    """An append-only file that belongs to one search.

    The first line holds the digest of the search, each further line one trial. A last
    line without its end is what a killed process left; it is dropped.
    """

    def __init__(self, file: IO[bytes], path: Path, records: list[TrialRecord]) -> None:
        self._file, self.path, self.records = file, path, records

    @classmethod
    @contextmanager
    def of_search(cls, path: Path, digest: str) -> "Iterator[RecordsFile]":
        """Open the file of a search, alone: new, or with the trials that it has.

        Raises
        ------
        InputError
            If the file is damaged, belongs to another search, or is in use.
        """
        ensure_folder(path.parent)
        try:
            file = path.open("a+b")
        except OSError as error:
            raise unwritable(path, error) from error
        with file:
            _lock(file, path)
            file.seek(0)
            records = _read(file, path, digest)
            yield cls(file, path, records)

    def append(self, record: TrialRecord) -> None:
        """Write one trial; it is on the disk when this returns."""
        _write_line(self._file, record.to_dict())
        self.records.append(record)


def search_digest(arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the rows and of every setting that decides the trials."""
    sha = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        sha.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        sha.update(array.tobytes())
    return sha.hexdigest()


def _lock(file: IO[bytes], path: Path) -> None:
    if fcntl is None:  # pragma: no cover
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InputError(
            f"Expected {path} to be free, got one that another search is writing. "
            "Wait for it to end, or choose another folder."
        ) from error


def _read(file: IO[bytes], path: Path, digest: str) -> list[TrialRecord]:
    contents = file.read()
    whole, _, torn = contents.rpartition(b"\n")
    if torn:
        file.truncate(len(contents) - len(torn))
    if not whole:
        _write_line(file, {"format": _FORMAT, "search": digest})
        return []
    head, *lines = whole.split(b"\n")
    try:
        header = json.loads(head)
        same_format = header["format"] == _FORMAT
        owner = header["search"]
        records = [_record(json.loads(line)) for line in lines]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"Expected the trials of a search in {path}, got a damaged file. "
            "Remove it, or choose another folder."
        ) from error
    if not same_format or owner != digest:
        raise InputError(
            f"Expected the trials of this search in {path}, got those of another one (other data, "
            "limits, seed or architecture). Choose another folder."
        )
    return _in_sequence(records)


def _record(plain: Any) -> TrialRecord:
    number, seed = (int(plain[name]) for name in ("number", "seed"))
    stopped, converged = plain["stopped"], plain["converged"]
    folds = tuple(FoldCounts.from_dict(fold) for fold in plain["folds"])
    if number < 0 or not isinstance(converged, bool):
        raise ValueError("no trial")
    if not (folds if stopped is None else isinstance(stopped, str)):
        raise ValueError("a trial that neither saw a fold nor was stopped")
    seconds = float(plain["seconds"])
    return TrialRecord(number, dict(plain["params"]), seed, folds, stopped, converged, seconds)


def _in_sequence(records: list[TrialRecord]) -> list[TrialRecord]:
    return sorted({record.number: record for record in records}.values(), key=lambda r: r.number)


def _write_line(file: IO[bytes], plain: Mapping[str, Any]) -> None:
    file.write(json.dumps(plain, sort_keys=True, allow_nan=False).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())
