"""Predictions of a folder, part by part: each appears whole or not at all, and is made once."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from fairsmooth import _validate
from fairsmooth._atomic import ensure_folder
from fairsmooth.data.conversion import ColumnType
from fairsmooth.data.files.parquet import Parquet, files_of
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.files.writing import write_chunks
from fairsmooth.persistence import file_digest
from fairsmooth.tables.model import TableModel
from fairsmooth.tables.scoring import with_reason_column

CHUNK_ROWS = 50_000
# Under this name a part says what it was made of.
_ABOUT = "fairsmooth"


@dataclass(frozen=True)
class Part:
    """One file of predictions to be made: plain data, so that another process can make it.

    Attributes
    ----------
    model, folder, file, output : Path
        The model, the table, the one of its files to predict, and the file to write.
    kinds : dict
        What the columns are, decided over the whole table.
    first_row : int
        Rows of the table before this file.
    options : dict
        As for :meth:`TableModel.predict`.
    """

    model: Path
    folder: Path
    file: Path
    output: Path
    kinds: Mapping[str, ColumnType]
    first_row: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def about(self) -> dict[str, str]:
        """Say what the predictions are made of: digests of the model and of the file."""
        facts = {
            "model": file_digest(self.model),
            "file": _digest(self.file),
            "kinds": {name: [kind.kind, kind.nullable] for name, kind in self.kinds.items()},
            "options": dict(self.options),
        }
        return {_ABOUT: json.dumps(facts, sort_keys=True, default=list)}


@dataclass(frozen=True)
class Made:
    """What became of a part: its rows, how many have no score, and whether it was there before."""

    rows: int
    unscored: int
    kept: bool


def parts_of(
    model: Path, folder: Path, output: Path, options: Mapping[str, Any]
) -> tuple[list[Part], int]:
    """Return what there is to predict of a folder, with its number of rows.

    Kinds of columns are decided over the whole table, so that all parts are of one schema.
    """
    loaded = TableModel.load(model)
    table = StoredTable.at(folder, text=loaded.text_columns)
    for name in options.get("keep", ()):
        _validate.known_column(name, table.columns, where="the table")
    for name in () if loaded.encoder is None else loaded.encoder.columns:
        _validate.known_column(name, table.columns, where="the table")
    kinds = {name: table.kind(name) for name in _needed(loaded, table, options.get("keep", ()))}
    parts, first = [], 0
    for file in files_of(folder):
        target = (output / file.relative_to(folder)).with_suffix(".parquet")
        parts.append(Part(model, folder, file, target, kinds, first, dict(options)))
        first += Parquet(file).n_rows
    return parts, first


def predict_part(part: Part, *, done: Callable[[int], None] = lambda rows: None) -> Made:
    """Predict one file, unless its predictions are there already; ``done`` is told of rows."""
    about = part.about()
    if part.output.is_file():
        known = _made(part.output, about)
        if known is not None:
            done(known.rows)
            return known
    ensure_folder(part.output.parent)
    model = TableModel.load(part.model)
    unscored = 0

    def counted() -> Iterator[pd.DataFrame]:
        nonlocal unscored
        for chunk in _chunks(model, part):
            unscored += int(chunk["probability"].isna().sum())
            yield chunk
            done(len(chunk))

    rows = write_chunks(part.output, counted(), about=about)
    return Made(rows, unscored, kept=False)


def _chunks(model: TableModel, part: Part) -> Iterator[pd.DataFrame]:
    source = Parquet(part.folder, file=part.file)
    table = StoredTable(source, model.text_columns, dict(part.kinds))
    names, first = list(part.kinds), part.first_row
    for chunk in table.chunks(names, rows=CHUNK_ROWS):
        scored = model.predict(_plain(chunk), first_row=first, **part.options)
        yield with_reason_column(scored)
        first += len(chunk)
    if first == part.first_row:
        yield with_reason_column(model.predict(table.empty(names), **part.options))


def _plain(chunk: pd.DataFrame) -> pd.DataFrame:
    """Spell texts out: those that are carried along are written as they were."""
    texts = chunk.select_dtypes("category").columns
    return chunk.assign(**{name: chunk[name].astype(object).astype("str") for name in texts})


def _needed(model: TableModel, table: StoredTable, keep: Sequence[str]) -> list[str]:
    """Return the columns to read: those that are scored, and those that are carried along."""
    if model.encoder is None:
        return table.columns
    ids = () if model.provenance is None else model.provenance.ids
    carried = [name for name in ids if name in table.columns]
    return list(dict.fromkeys([*model.encoder.columns, *carried, *keep]))


def _made(path: Path, about: Mapping[str, str]) -> Made | None:
    """Return what a file of predictions holds, if it was made of the same."""
    try:
        with pq.ParquetFile(path) as file:
            known = file.schema_arrow.metadata or {}
            if known.get(_ABOUT.encode()) != about[_ABOUT].encode():
                return None
            scores = file.read(["probability"]).column(0)
    except (pa.ArrowInvalid, OSError, KeyError):
        return None
    return Made(len(scores), scores.null_count, kept=True)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
