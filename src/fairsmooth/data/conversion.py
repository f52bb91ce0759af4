"""Rows of a column into the kind that was decided for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from fairsmooth.data.values import MISSING_TEXTS, PLACEHOLDERS

Array: TypeAlias = Any  # pa.Array or pa.ChunkedArray, which come without types

_DAY_FIRST = r"^([0-9]{2})\.([0-9]{2})\.([0-9]{4})"
_ZONE = r"(Z|:[0-9.]+[+-][0-9]{2}:?[0-9]{2})$"
_PLACEHOLDERS = pa.array(PLACEHOLDERS, pa.large_string())
_MISSING = pa.array(MISSING_TEXTS, pa.large_string())


@dataclass(frozen=True)
class ColumnType:
    """What a column is converted to.

    Attributes
    ----------
    kind : str
        ``integer``, ``float``, ``boolean``, ``date``, ``text``, ``empty`` (no value at all) or
        ``other`` (lists, bytes and the like, which no rule can use).
    nullable : bool
        Whether a row lacks a value.
    """

    kind: str
    nullable: bool


def convert(array: Array, column: ColumnType, *, decimal: str = ".") -> pd.Series:
    """Turn rows into a pandas column of the kind that was decided."""
    if column.kind == "other":
        return array.to_pandas()
    if column.kind == "empty":
        return pa.nulls(len(array), pa.string()).to_pandas()
    if arrow_kind(array.type) == "category":
        array = pc.cast(pc.cast(array, array.type.value_type), pa.large_string())
    if arrow_kind(array.type) == "text":
        array = trimmed(array)
        void = is_missing(array)
        if column.kind != "text":
            void = pc.or_kleene(void, is_placeholder(array))
        array = with_point(pc.if_else(void, None, array), decimal)
    return _CONVERTERS[column.kind](array, column.nullable)


def _integers(array: Array, nullable: bool) -> pd.Series:
    if arrow_kind(array.type) == "text":
        array = pc.replace_substring_regex(array, r"^\+", "")
    whole = pc.cast(array, pa.int64())
    if not nullable:
        return whole.to_pandas()
    known, gaps = np.array(pc.fill_null(whole, 0)), np.array(pc.is_null(whole))
    return pd.Series(pd.arrays.IntegerArray(known, gaps))


def _floats(array: Array, nullable: bool) -> pd.Series:
    del nullable
    if array.type in (pa.float16(), pa.float32()):
        # By its shortest decimal text, as a CSV file would have it: 0.1, not 0.10000000149.
        array = pc.cast(array.cast(pa.float32()), pa.string())
    return pc.cast(array, pa.float64()).to_pandas()


def _booleans(array: Array, nullable: bool) -> pd.Series:
    if arrow_kind(array.type) == "text":
        array = pc.equal(pc.utf8_lower(array), "true")
    return array.to_pandas().astype("boolean") if nullable else array.to_pandas()


def _moments(array: Array, nullable: bool) -> pd.Series:
    del nullable
    if arrow_kind(array.type) == "text":
        whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        coded = pc.dictionary_encode(whole)  # days repeat, and reading them is slow
        return dates(coded.dictionary).take(coded.indices).to_pandas()
    zone = "UTC" if getattr(array.type, "tz", None) is not None else None
    in_zone = pc.cast(array, pa.timestamp("us", zone), safe=False)  # nanoseconds are cut
    return pc.cast(in_zone, pa.timestamp("us")).to_pandas()


def _texts(array: Array, nullable: bool) -> pd.Series:
    del nullable
    return pc.cast(array, pa.string()).to_pandas()


_CONVERTERS: dict[str, Callable[[Array, bool], pd.Series]] = {
    "integer": _integers,
    "float": _floats,
    "boolean": _booleans,
    "date": _moments,
    "text": _texts,
}


def arrow_kind(kind: pa.DataType) -> str:
    """Tell what an Arrow type holds; text may turn out to be something else."""
    is_ = pa.types
    if is_.is_dictionary(kind):
        return "category"
    if is_.is_string(kind) or is_.is_large_string(kind) or kind == pa.string_view():
        return "text"
    if is_.is_null(kind):
        return "text"
    if is_.is_integer(kind):
        return "integer"
    if is_.is_floating(kind) or is_.is_decimal(kind):
        return "float"
    if is_.is_boolean(kind):
        return "boolean"
    return "date" if is_.is_date(kind) or is_.is_timestamp(kind) else "other"


def trimmed(array: Array) -> Array:
    """Return texts without the spaces around them."""
    return pc.utf8_trim_whitespace(pc.cast(array, pa.large_string()))


def is_missing(texts: Array) -> Array:
    """Tell which texts mean that there is no value."""
    return pc.or_(pc.is_null(texts), pc.is_in(texts, _MISSING))


def is_placeholder(texts: Array) -> Array:
    """Tell which texts mean that there is no number, though they may be a category."""
    return pc.is_in(texts, _PLACEHOLDERS)


def all_match(texts: Array, pattern: str) -> bool:
    """Tell whether every text is as the pattern says, from start to end."""
    matched = pc.match_substring_regex(texts, f"^({pattern})$")
    return bool(pc.all(matched, min_count=0).as_py())


def with_point(texts: Array, decimal: str) -> Array:
    """Write numbers with a decimal point."""
    if decimal == ".":
        return texts
    return pc.replace_substring_regex(
        texts, rf"^([+-]?[0-9]*){decimal}([0-9]*([eE][+-]?[0-9]+)?)$", r"\1.\2"
    )


def dates(texts: Array) -> Array:
    """Read dates as moments without a zone (UTC where one is given); null where there is none."""
    plain = pc.replace_substring_regex(texts, _DAY_FIRST, r"\3-\2-\1")
    plain = pc.replace_substring_regex(plain, r"^([0-9]{4})/([0-9]{2})/", r"\1-\2-")
    plain = pc.replace_substring_regex(plain, r"(\.[0-9]{6})[0-9]+", r"\1")
    zoned = pc.match_substring_regex(plain, _ZONE)
    try:
        bare = pc.cast(pc.if_else(zoned, None, plain), pa.timestamp("us"))
        utc = pc.cast(pc.if_else(zoned, plain, None), pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid:  # the 31st of February
        return pa.nulls(len(texts), pa.timestamp("us"))
    return pc.coalesce(bare, pc.cast(utc, pa.timestamp("us")))
