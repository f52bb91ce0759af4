"""Rows of a folder scored for an audit, part by part: each appears whole, and is made once."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from fairsmooth._atomic import ensure_folder
from fairsmooth.data.files.parquet import Parquet
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.files.writing import write_chunks
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.auditing.in_parts import ScoredPart
from fairsmooth.metrics.own import Distances
from fairsmooth.tables.model import TableModel
from fairsmooth.tables.predicting import Part, parts_of
from fairsmooth.tables.provenance import Provenance

# Under these names a part says what it was made of, and its sums over rows.
_ABOUT, _SUMS = "fairsmooth audit", "fairsmooth sums"
_FIELDS = ("n_rows", "total", "squares", "largest")


@dataclass(frozen=True)
class Scored:
    """What became of a part: what was noticed, and whether it was there before."""

    notes: tuple[str, ...]
    kept: bool


def audit_parts_of(
    model: Path, folder: Path, output: Path, options: Mapping[str, Any]
) -> list[Part]:
    """Return the parts of a folder to score; ``options`` are those of :meth:`TableModel.audited`.

    Kinds of columns are decided over the whole table.
    """
    loaded = TableModel.load(model)
    known = loaded.provenance or Provenance.from_dict({})
    there = StoredTable.at(folder).columns
    named = [name for name in (known.label, *known.sensitive) if name in there]
    parts, _ = parts_of(model, folder, output, {"keep": named})
    return [replace(part, options=dict(options)) for part in parts]


def audit_part(part: Part) -> Scored:
    """Score one file as an audit needs it, unless that is there already."""
    about = json.dumps(part.about(), sort_keys=True)
    if part.output.is_file() and _facts(part.output).get(_ABOUT) == about:
        return Scored((), kept=True)
    ensure_folder(part.output.parent)
    name = str(part.file.relative_to(part.folder))
    with _named(name):
        scored, notes = _scored(part)
    sums = [[getattr(each, name) for name in _FIELDS] for each in scored.distances]
    facts = {_ABOUT: about, _SUMS: json.dumps(sums)}
    write_chunks(part.output, [_as_frame(scored)], about=facts)
    return Scored(tuple(f"In {name}, {note}" for note in notes), kept=False)


def read_scored(path: Path) -> ScoredPart:
    """Read what :func:`audit_part` wrote."""
    table, sums = pd.read_parquet(path), json.loads(_facts(path)[_SUMS])
    unknown, free = table["label"].isna().any(), table["free"].to_numpy(np.float64)
    return ScoredPart(
        y=None if unknown else table["label"].to_numpy(np.int64),
        groups=table["group"].to_numpy(np.int64),
        scores=table["score"].to_numpy(np.float64),
        own_scores=table["own"].to_numpy(np.float64),
        agreed=table["agreed"].to_numpy(bool),
        distances=tuple(Distances(*each) for each in sums),
        free_scores=None if np.isnan(free).any() else free,
    )


def _scored(part: Part) -> tuple[ScoredPart, tuple[str, ...]]:
    model = TableModel.load(part.model)
    source = Parquet(part.folder, file=part.file)
    table = StoredTable(source, model.text_columns, dict(part.kinds))
    if not len(table):
        return _nothing(), ("there are no rows.",)
    rows = model.audited(table.frame(list(part.kinds)), **part.options)
    classes = np.asarray(model.classifier.classes_)
    y = None if rows.y is None else classes[rows.y]
    found = ScoredPart.of(model.classifier, rows.X, y, sensitive_features=rows.sensitive)
    return found, rows.notes


def _nothing() -> ScoredPart:
    none = np.empty(0)
    return ScoredPart(None, none.astype(np.int64), none, none, none.astype(bool), ())


def _as_frame(part: ScoredPart) -> pd.DataFrame:
    n_rows = len(part.scores)
    return pd.DataFrame(
        {
            "label": pd.array([pd.NA] * n_rows if part.y is None else part.y, dtype="Int8"),
            "group": part.groups,
            "score": part.scores,
            "own": part.own_scores,
            "agreed": part.agreed,
            "free": np.full(n_rows, np.nan) if part.free_scores is None else part.free_scores,
        }
    )


def _facts(path: Path) -> dict[str, str]:
    """Return what a file says about itself; nothing if it is no file of ours."""
    try:
        known = pq.read_schema(path).metadata or {}
    except (pa.ArrowInvalid, OSError):
        return {}
    return {name.decode(): value.decode() for name, value in known.items() if name != b"pandas"}


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Say in which part something was refused."""
    try:
        yield
    except InputError as error:
        raise InputError(f"In {name}: {error}") from error
