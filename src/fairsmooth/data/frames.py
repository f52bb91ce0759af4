"""Any table into the one form that roles, rules and digests work on."""

import hashlib
import json
import os
from collections.abc import Collection, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
from narwhals.exceptions import NarwhalsError

from fairsmooth.data.conversion import Array, convert
from fairsmooth.data.kinds import kind_of, kind_of_array
from fairsmooth.data.values import normal_codes, normal_text
from fairsmooth.exceptions import InputError

# Says that the kinds of a frame's columns were decided, over all rows of its table.
_NORMAL = "fairsmooth.normal"


def as_frame(table: Any, *, text: Collection[str] = ()) -> pd.DataFrame:
    """Return any table in normal form: one kind per column, decided over all its rows.

    The same table gives the same frame whether it is a pandas, polars or pyarrow
    table, a dict of columns, or the path of a file. A column of text that reads as
    numbers, dates or true/false in every row becomes that; "n/a", "NA", "?" and the
    like (:data:`fairsmooth.data.values.MISSING_TEXTS`) are missing. Declared
    categories stay categories. The index is ignored. A frame that is in normal form,
    or some rows of one, is returned as it is: what all rows decided is not
    decided again by a part of them.

    Parameters
    ----------
    table : table or path
    text : collection of str
        Columns that are known to hold categories, such as those of a model
        (:attr:`fairsmooth.data.encoding.TableEncoder.text_columns`), whatever their values
        look like in this table.

    Raises
    ------
    InputError
        If it is no table, or if a column name occurs twice or is empty.

    Examples
    --------
    >>> as_frame({"age": ["31", "n/a"], "code": ["01", "1"]}).dtypes.astype(str).to_dict()
    {'age': 'Int64', 'code': 'str'}
    """
    if isinstance(table, str | os.PathLike):
        from fairsmooth.data.files import read_table  # it builds on this module

        return read_table(table, text=text)
    if isinstance(table, Mapping):
        table = _of_columns(table)
    if isinstance(table, pd.DataFrame):
        if table.attrs.get(_NORMAL) and _is_plain(table):
            return table
        names = check_names([str(name) for name in table.columns])
        columns = {
            name: _column(name, table.iloc[:, k], name in text) for k, name in enumerate(names)
        }
    else:
        arrow = _as_arrow(table)
        columns = {
            name: _from_arrow(name, arrow.column(k), name in text)
            for k, name in enumerate(check_names(arrow.column_names))
        }
    return mark_normal(pd.DataFrame(columns))


def like(table: Any, frame: pd.DataFrame) -> Any:
    """Return a frame in the library of the table that it was made from.

    A polars table gives a polars frame, another table that is not pandas an Arrow table; a
    dict of columns or a path gives pandas.
    """
    if isinstance(table, pd.DataFrame | Mapping | str | os.PathLike):
        return frame
    arrow = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata()
    known = None if isinstance(table, pa.RecordBatch) else nw.from_native(table).implementation
    if known is None or not known.is_polars():
        return arrow
    return nw.from_arrow(arrow, backend="polars").to_native()


def mark_normal(frame: pd.DataFrame) -> pd.DataFrame:
    """Note that the kinds of the columns were decided over the whole table."""
    frame.attrs[_NORMAL] = True
    return frame


def check_names(names: list[str]) -> list[str]:
    """Strip column names; refuse an empty one or one that occurs twice."""
    stripped = [name.strip() for name in names]
    for place, name in enumerate(stripped):
        if not name:
            raise InputError(
                f"Expected a name for every column, got none for column {place + 1} of "
                f"{len(names)}. Name it, or remove it if it only numbers the rows."
            )
    refuse_repeats(stripped)
    return stripped


def refuse_repeats(names: list[str]) -> None:
    """Refuse a name that occurs twice."""
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError(f"Expected every column name once, got {repeated!r} twice. Rename one.")


def _from_arrow(name: str, column: Array, text: bool) -> pd.Series:
    if pa.types.is_dictionary(column.type):
        return _categories(pd.Series(column.to_pandas()))
    return convert(column, kind_of_array(name, column, text=text))


def _is_plain(table: pd.DataFrame) -> bool:
    return all(isinstance(name, str) for name in table.columns)


def _as_arrow(table: Any) -> pa.Table:
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    try:
        frame = nw.from_native(table)
        eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    except (TypeError, NarwhalsError) as error:
        raise InputError(
            "Expected a table (pandas, polars, pyarrow, a dict of columns, or the path of a "
            f"file), got {type(table).__name__}."
        ) from error
    return eager.to_arrow()


def _of_columns(columns: Mapping[Any, Any]) -> pd.DataFrame:
    try:
        return pd.DataFrame({str(name): list(values) for name, values in columns.items()})
    except (TypeError, ValueError) as error:
        raise InputError(f"Expected columns of equal length, got {error}.") from error


def _column(name: str, column: pd.Series, text: bool) -> pd.Series:
    column = column.reset_index(drop=True)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _categories(column)
    if column.dtype in (np.dtype(np.float64), np.dtype(bool)) and not column.isna().all():
        return column
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        if not _holds_single_values(column):
            return column
        array = pa.array([_text(value) for value in column], pa.string())
    return _from_arrow(name, array, text)


def _holds_single_values(column: pd.Series) -> bool:
    is_object = pd.api.types.is_object_dtype(column.dtype)
    return is_object and bool(column.map(pd.api.types.is_scalar).all())


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else normal_text(value)


def _categories(column: pd.Series) -> pd.Series:
    """Keep declared categories, by their normal texts."""
    texts = [normal_text(value) for value in column.cat.categories]
    unique = sorted({text for text in texts if text is not None})
    place = {text: code for code, text in enumerate(unique)}
    lookup = np.array([*(-1 if text is None else place[text] for text in texts), -1], dtype=np.intp)
    codes = lookup[column.cat.codes.to_numpy()]
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(unique)))


def table_digest(frame: pd.DataFrame) -> str:
    """Return the SHA-256 of a table: names, kinds and values of its columns, in order.

    It is that of the normal form, so the same whatever kind of file or table the
    rows came from; whole numbers and decimals are one kind.
    """
    normal = as_frame(frame)
    sha = hashlib.sha256(f"{len(normal)}".encode())
    for name in normal.columns:
        column = normal[name]
        kind = kind_of(column)
        sha.update(json.dumps([name, kind]).encode())
        sha.update(_contents(name, column, kind))
    return sha.hexdigest()


def _contents(name: str, column: pd.Series, kind: str) -> bytes:
    if kind in ("number", "boolean"):
        values = column.to_numpy(np.float64, na_value=np.nan) + 0.0  # -0.0 is 0.0
        return np.where(np.isnan(values), np.nan, values).astype("<f8").tobytes()
    if kind == "date":
        return column.to_numpy("datetime64[us]").astype("<i8").tobytes()
    if kind not in ("text", "empty"):
        column = column.map(str)
    codes, texts = normal_codes(name, column)
    order = np.argsort(np.array(texts, dtype=object)) if texts else np.empty(0, np.intp)
    rank = np.empty(len(texts) + 1, dtype="<i8")
    rank[order] = np.arange(len(texts))
    rank[-1] = -1
    return json.dumps(sorted(texts)).encode() + rank[codes].tobytes()
