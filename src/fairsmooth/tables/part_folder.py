"""A folder with one file for every part of a table: each appears whole, and is made once."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import fairsmooth
from fairsmooth import _atomic
from fairsmooth.data.conversion import ColumnType, arrow_kind
from fairsmooth.data.files.parquet import Parquet
from fairsmooth.data.files.part_file import parts_of
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.values import normal_texts
from fairsmooth.exceptions import InputError

# Its name keeps it out of the table that the parts are.
NAME = "_fairsmooth.json"


@dataclass(frozen=True)
class PartJob:
    """One part to work on, by paths that every worker can reach.

    ``digest`` is that of the model's file, by :func:`model_digest`. ``schema`` and ``kinds`` are
    those of the whole table; kinds are given where a part by itself might decide otherwise.
    ``label`` is the column of labels if any row of the table has one.
    """

    model: str
    digest: str
    folder: str
    source: str
    target: str
    options: Mapping[str, Any]
    schema: Any
    kinds: Mapping[str, ColumnType]
    label: str | None = None


@dataclass(frozen=True)
class PartFolder:
    """Where the parts of one run are written: of one model, one table, and the same options.

    Run again it does what is missing. A file beside the parts says what the run is; a folder
    of another run is refused, and so is a table whose parts have changed since.
    """

    folder: Path
    jobs: tuple[PartJob, ...]

    @classmethod
    def of(
        cls,
        folder: Path,
        *,
        what: str,
        model: Path,
        table: Path,
        options: Mapping[str, Any],
        text: Collection[str] = (),
        label: str | None = None,
    ) -> "PartFolder":
        """Open the folder of a run, or make it; columns of ``text`` are known to be so."""
        sources = parts_of(table)
        digest = model_digest(model)
        facts = {
            "what": what,
            "version": fairsmooth.__version__,
            "model": digest,
            "options": dict(options),
            "parts": {name: _state(file) for name, file in sources.items()},
        }
        _claim(_atomic.ensure_folder(folder), facts)
        there = all((folder / name).exists() for name in sources)
        schema = None if there else Parquet(table).dataset.schema
        kinds = {} if there else common_kinds(table, text, kept=options.get("keep", ()))
        known: dict[str, Any] = {"options": options, "schema": schema, "kinds": kinds}
        known["label"] = None if there else _known_label(table, label)
        jobs = tuple(
            PartJob(_text(model), digest, _text(table), _text(file), _text(folder / name), **known)
            for name, file in sources.items()
        )
        return cls(folder, jobs)

    @property
    def waiting(self) -> list[PartJob]:
        """The parts that are not there yet."""
        return [job for job in self.jobs if not Path(job.target).exists()]

    @property
    def targets(self) -> list[Path]:
        """All parts, in the order of the table."""
        return [Path(job.target) for job in self.jobs]


def model_digest(path: Path) -> str:
    """Return the SHA-256 of a model's file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def common_kinds(
    table: Path, text: Collection[str], *, kept: Collection[str] = ()
) -> dict[str, ColumnType]:
    """Return what some columns of a folder are, decided over all parts.

    They are those stored as texts or decimals, so that a part whose texts all look like numbers
    is read as the others, and those ``kept``, so that all parts are written with one type.
    """
    stored = StoredTable.at(table, text=text)
    schema = Parquet(table).dataset.schema
    types = zip(stored.columns, schema.types, strict=True)
    return {
        name: stored.kind(name)
        for name, kind in types
        if name in kept or arrow_kind(kind) == "text" or pa.types.is_decimal(kind)
    }


def _known_label(table: Path, label: str | None) -> str | None:
    """Return the column of labels, if a row of the table has a label in it."""
    stored = StoredTable.at(table)
    if label is None or label not in stored.columns:
        return None
    return None if normal_texts(label, stored[label]).isna().all() else label


def _text(path: Path) -> str:
    return str(path.absolute())


def _state(file: Path) -> list[int]:
    known = file.stat()
    return [known.st_size, known.st_mtime_ns]


def _claim(folder: Path, facts: dict[str, Any]) -> None:
    path = folder / NAME
    if not path.exists():
        # A run that is killed as it begins leaves what it was writing the facts to.
        if any(not file.name.startswith(f".{NAME}.") for file in folder.iterdir()):
            raise InputError(
                f"Expected an empty folder, or one of an earlier run, got files in {folder}."
            )
        _atomic.write_bytes(path, json.dumps(facts, indent=1).encode())
        return
    try:
        earlier = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"Expected what a run wrote in {path}, got something else.") from error
    different = [name for name in facts if earlier.get(name) != facts[name]]
    if different:
        raise InputError(
            f"Expected the run that {folder} was begun by, got another: {different[0]} differs. "
            "Give a new folder."
        )
