"""What a worker does with one part of a table: a function of paths, whose result is a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from fairsmooth._atomic import ensure_folder
from fairsmooth.data.files import write_chunks
from fairsmooth.data.files.part_file import PartFile
from fairsmooth.data.files.pieces import Piece
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.frames import mark_normal
from fairsmooth.data.values import normal_texts
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.auditing.in_parts import ScoredPart
from fairsmooth.metrics.own import Distances
from fairsmooth.tables.auditing import AuditedRows
from fairsmooth.tables.model import TableModel
from fairsmooth.tables.part_folder import PartJob, model_digest
from fairsmooth.tables.scoring import NoRows, rows_at_once, with_reason_column

_SUMS = ("n_rows", "total", "squares", "largest")


def predict_part(job: PartJob) -> tuple[int, int]:
    """Score the rows of a part; return how many there are, and how many could not be scored.

    Every part has the column ``reason``, so that all have the same columns.
    """
    model = _loaded(job.model, job.digest)
    lost = 0

    def scored() -> Iterator[pd.DataFrame]:
        nonlocal lost
        first_row = 0
        for chunk in _chunks(job, model):
            found = with_reason_column(model.predict(chunk, first_row=first_row, **job.options))
            lost += int(found["probability"].isna().sum())
            first_row += len(chunk)
            yield _with_texts(found)

    with _named(job):
        return write_chunks(_target(job), scored()), lost


def audit_part(job: PartJob) -> list[str]:
    """Score the rows of a part as an audit needs them; return what was noticed."""
    model = _loaded(job.model, job.digest)
    with _named(job):
        frame = pd.concat(list(_chunks(job, model)), ignore_index=True)
        try:
            rows = _audited(job, model, frame)
        except NoRows as error:
            # Rows of other parts can be audited; where there are none, that is said at the end.
            write_chunks(_target(job), [_as_frame(_nothing())])
            return [f"In {Path(job.source).name}, no row is audited. {error}"]
        classes = np.asarray(model.classifier.classes_)
        part = ScoredPart.of(
            model.classifier,
            rows.X,
            None if rows.y is None else classes[rows.y],
            sensitive_features=rows.sensitive,
        )
        write_chunks(_target(job), [_as_frame(part)])
        return [f"In {Path(job.source).name}, {note}" for note in rows.notes]


def _audited(job: PartJob, model: TableModel, frame: pd.DataFrame) -> AuditedRows:
    if not len(frame):
        raise NoRows("The part has no rows.")
    # Whether a table has labels is not for one of its parts to say.
    unlabelled = job.label is not None and normal_texts(job.label, frame[job.label]).isna().all()
    if unlabelled and not job.options["strict"]:
        raise NoRows(f"Expected labels in {job.label!r}, as in other parts, got none.")
    return model.audited(frame, **job.options)


def read_scored(path: Path, n_groups: int) -> ScoredPart:
    """Read what :func:`audit_part` wrote."""
    table = pd.read_parquet(path)
    if not len(table):
        return replace(_nothing(), distances=(Distances(),) * n_groups)
    sums = table["sums"].iloc[0]
    distances = np.asarray(sums, dtype=np.float64).reshape(n_groups, len(_SUMS))
    free = table["free"].to_numpy(np.float64)
    return ScoredPart(
        y=None if table["label"].isna().any() else table["label"].to_numpy(np.int64),
        groups=table["group"].to_numpy(np.int64),
        scores=table["score"].to_numpy(np.float64),
        own_scores=table["own"].to_numpy(np.float64),
        agreed=table["agreed"].to_numpy(bool),
        distances=tuple(Distances(int(n), *rest) for n, *rest in distances.tolist()),
        free_scores=None if np.isnan(free).any() else free,
    )


def _as_frame(part: ScoredPart) -> pd.DataFrame:
    n_rows = len(part.scores)
    sums = [float(getattr(each, name)) for each in part.distances for name in _SUMS]
    return pd.DataFrame(
        {
            "label": pd.array([pd.NA] * n_rows if part.y is None else part.y, dtype="Int8"),
            "group": part.groups,
            "score": part.scores,
            "own": part.own_scores,
            "agreed": part.agreed,
            "free": np.full(n_rows, np.nan) if part.free_scores is None else part.free_scores,
            # Of the whole part, so it stands in its first row.
            "sums": pd.Series([sums, *([None] * n_rows)][:n_rows], dtype=object),
        }
    )


def _nothing() -> ScoredPart:
    none = np.empty(0)
    return ScoredPart(None, none.astype(np.int64), none, none, none.astype(bool), ())


def _chunks(job: PartJob, model: TableModel) -> Iterator[pd.DataFrame]:
    source = PartFile(Path(job.source), folder=Path(job.folder), schema=job.schema)
    table = StoredTable(source, model.text_columns, dict(job.kinds))
    if not len(table):
        yield _no_rows(table, job.schema)
    yield from table.chunks(rows=rows_at_once(len(model.classifier.groups_)))


def _no_rows(table: StoredTable, schema: pa.Schema) -> pd.DataFrame:
    """Return the columns of an empty part, of the kinds that they have in the others."""
    empty = zip(table.columns, schema.empty_table().columns, strict=True)
    pieces = {name: Piece.of(column.combine_chunks()) for name, column in empty}
    return mark_normal(
        pd.DataFrame({name: piece.series(name, table.kind(name)) for name, piece in pieces.items()})
    )


def _with_texts(scored: pd.DataFrame) -> pd.DataFrame:
    """Return kept columns of categories as texts: a table's parts are to have one schema."""
    kinds = dict.fromkeys(scored.select_dtypes("category").columns, "str")
    return scored.astype(kinds) if kinds else scored


@contextmanager
def _named(job: PartJob) -> Iterator[None]:
    """Say in which part something was refused."""
    try:
        yield
    except InputError as error:
        raise InputError(f"In {Path(job.source).name}: {error}") from error


def _target(job: PartJob) -> Path:
    target = Path(job.target)
    ensure_folder(target.parent)
    return target


@lru_cache(maxsize=2)
def _loaded(path: str, digest: str) -> TableModel:
    """Load a model once for all parts: workers live on, and its path may hold another by then."""
    if model_digest(Path(path)) != digest:
        raise InputError(
            f"Expected the model that the run was begun with in {path}, got another. Give the "
            "model a name of its own, and run again with a new folder."
        )
    return TableModel.load(path)
