"""Which kind of values a column holds, decided over all its rows; how text becomes that kind."""

from dataclasses import dataclass, field

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from fairsmooth.data.values import (
    LARGEST_EXACT,
    MISSING_TEXTS,
    NUMBER,
    PLACEHOLDERS,
    TRUTH,
    WHOLE,
)
from fairsmooth.exceptions import InputError

Array = pa.Array | pa.ChunkedArray

_CLOCK = r"([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?"
_DAY_FIRST = r"^([0-9]{2})\.([0-9]{2})\.([0-9]{4})"
_DATE = rf"([0-9]{{4}}[-/][0-9]{{2}}[-/][0-9]{{2}}|{_DAY_FIRST[1:]}){_CLOCK}(Z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?"
_ZONE = r"(Z|:[0-9.]+[+-][0-9]{2}:?[0-9]{2})$"
# In the order of preference: whole numbers are numbers too.
_KINDS = ("boolean", "integer", "float", "date", "other")
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


@dataclass
class Profile:
    """What the rows seen so far allow a column to be.

    Text counts by what it says: a column of texts "1" and "2" is one of whole
    numbers, whatever file or library it came from. One row decides for the
    whole column: "X" among numbers, or a leading zero ("01"), makes it text;
    so does a whole number beyond 2^53, which is a name rather than a quantity.
    """

    name: str
    decimal: str = "."
    missing: bool = False
    values: bool = False
    placeholders: bool = False
    inexact: bool = False
    repetitive: bool = True
    too_large: str | None = None
    kinds: set[str] = field(default_factory=lambda: {*_KINDS})

    def update(self, array: Array) -> None:
        """Take further rows into account."""
        kind = _arrow_kind(array.type)
        if kind == "category":
            self.values |= array.null_count < len(array)
            self.kinds = set()
        elif kind == "text":
            self._update_text(array)
        else:
            self._update_typed(array, kind)

    def _update_typed(self, array: Array, kind: str) -> None:
        n_missing = array.null_count
        if pa.types.is_floating(array.type):
            n_missing = pc.sum(pc.is_null(array, nan_is_null=True)).as_py() or 0
        self.missing |= n_missing > 0
        if n_missing < len(array):
            self.values = True
            self.kinds &= {kind}
            self.inexact |= kind == "integer" and not _is_exact(array)

    def _update_text(self, array: Array) -> None:
        if not self.kinds:
            return
        texts = self._few(_trimmed(array))
        known = texts.filter(pc.invert(_missing(texts)))
        self.missing |= len(known) < len(texts)
        values = known.filter(pc.invert(pc.is_in(known, _PLACEHOLDERS)))
        self.placeholders |= len(values) < len(known)
        self.values |= len(values) > 0
        self.kinds = {kind for kind in self.kinds if self._allows(kind, values)}
        if "integer" in self.kinds:
            self.inexact |= not _is_exact_text(values)
        if "float" in self.kinds:
            self._note_too_large(values)

    def _few(self, texts: Array) -> Array:
        """Keep one of each text, unless the first rows showed that nearly all differ."""
        if not self.repetitive:
            return texts
        unique = pc.unique(texts)
        self.repetitive = 4 * len(unique) <= len(texts)
        return unique

    def _allows(self, kind: str, values: Array) -> bool:
        if len(values) == 0:
            return True
        number = NUMBER if self.decimal == "." else NUMBER.replace(r"\.", self.decimal)
        patterns = {"boolean": TRUTH, "integer": WHOLE, "float": number, "date": _DATE}
        if kind not in patterns or not _all_match(values, patterns[kind]):
            return False
        return kind != "date" or _dates(values).null_count == 0

    def _note_too_large(self, values: Array) -> None:
        numbers = pc.cast(_with_point(values, self.decimal), pa.float64())
        named = pc.match_substring(values, "inf", ignore_case=True)
        infinite = values.filter(pc.and_not(pc.is_inf(numbers), named))
        if self.too_large is None and len(infinite):
            self.too_large = infinite[0].as_py()

    def decide(self) -> ColumnType:
        """Return what the column is, now that all rows were seen."""
        nullable = self.missing or self.placeholders
        if not self.values:
            return ColumnType("text" if self.placeholders else "empty", nullable)
        kind = next((kind for kind in _KINDS if kind in self.kinds), "text")
        if kind in ("integer", "float"):
            self._refuse_too_large()
        return ColumnType("text" if kind == "integer" and self.inexact else kind, nullable)

    def _refuse_too_large(self) -> None:
        if self.too_large is not None:
            shown = self.too_large if len(self.too_large) < 20 else self.too_large[:12] + "…"
            raise InputError(
                f"Expected numbers below 1.8e308 in column {self.name!r}, got {shown} "
                f"({len(self.too_large)} characters). Correct it or drop the column."
            )


def convert(array: Array, column: ColumnType, *, decimal: str = ".") -> pd.Series:
    """Turn rows into a pandas column of the kind that was decided."""
    if column.kind == "other":
        return array.to_pandas()
    if column.kind == "empty":
        return pa.nulls(len(array), pa.string()).to_pandas()
    if _arrow_kind(array.type) == "category":
        array = pc.cast(array, array.type.value_type)
        array = pc.cast(array, pa.large_string())
    if _arrow_kind(array.type) == "text":
        array = _trimmed(array)
        void = _missing(array)
        if column.kind != "text":
            void = pc.or_kleene(void, pc.is_in(array, _PLACEHOLDERS))
        array = _with_point(pc.if_else(void, None, array), decimal)
    return _CONVERTERS[column.kind](array, column.nullable)


def _integers(array: Array, nullable: bool) -> pd.Series:
    if _arrow_kind(array.type) == "text":
        array = pc.replace_substring_regex(array, r"^\+", "")
    whole = pc.cast(array, pa.int64())
    if not nullable:
        return whole.to_pandas()
    return whole.to_pandas(types_mapper=None, integer_object_nulls=True).astype("Int64")


def _floats(array: Array, nullable: bool) -> pd.Series:
    del nullable
    if array.type in (pa.float16(), pa.float32()):
        # By its shortest decimal text, as a CSV file would have it: 0.1, not 0.10000000149.
        array = pc.cast(array.cast(pa.float32()), pa.string())
    return pc.cast(array, pa.float64()).to_pandas()


def _booleans(array: Array, nullable: bool) -> pd.Series:
    if _arrow_kind(array.type) == "text":
        array = pc.equal(pc.utf8_lower(array), "true")
    return array.to_pandas().astype("boolean") if nullable else array.to_pandas()


def _moments(array: Array, nullable: bool) -> pd.Series:
    del nullable
    if _arrow_kind(array.type) == "text":
        whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        coded = pc.dictionary_encode(whole)  # days repeat, and reading them is slow
        return _dates(coded.dictionary).take(coded.indices).to_pandas()
    utc = getattr(array.type, "tz", None) is not None
    return pc.cast(array, pa.timestamp("us", "UTC" if utc else None), safe=False).cast(
        pa.timestamp("us")
    ).to_pandas()


def _texts(array: Array, nullable: bool) -> pd.Series:
    del nullable
    return pc.cast(array, pa.string()).to_pandas()


_CONVERTERS = {
    "integer": _integers,
    "float": _floats,
    "boolean": _booleans,
    "date": _moments,
    "text": _texts,
}


def _arrow_kind(kind: pa.DataType) -> str:
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


def _trimmed(array: Array) -> Array:
    return pc.utf8_trim_whitespace(pc.cast(array, pa.large_string()))


def _missing(texts: Array) -> Array:
    return pc.or_(pc.is_null(texts), pc.is_in(texts, _MISSING))


def _all_match(texts: Array, pattern: str) -> bool:
    matched = pc.match_substring_regex(texts, f"^({pattern})$")
    return pc.all(matched, min_count=0).as_py()


def _with_point(texts: Array, decimal: str) -> Array:
    if decimal == ".":
        return texts
    return pc.replace_substring_regex(
        texts, rf"^([+-]?[0-9]*){decimal}([0-9]*([eE][+-]?[0-9]+)?)$", r"\1.\2"
    )


def _is_exact(array: Array) -> bool:
    ends = pc.min_max(array)
    return max(abs(ends["min"].as_py()), abs(ends["max"].as_py())) <= LARGEST_EXACT


def _is_exact_text(texts: Array) -> bool:
    digits = len(str(LARGEST_EXACT))
    long = texts.filter(pc.greater_equal(pc.utf8_length(texts), digits)).to_pylist()
    return all(len(text) <= digits + 1 and abs(int(text)) <= LARGEST_EXACT for text in long)


def _dates(texts: Array) -> Array:
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


def kind_of(column: pd.Series) -> str:
    """Tell what a pandas column is: number, boolean, date, text, empty, or a type we cannot use.

    Examples
    --------
    >>> [kind_of(pd.Series(values)) for values in ([1, 2.5], [True], ["a"], [None])]
    ['number', 'boolean', 'text', 'empty']
    """
    dtype, api = column.dtype, pd.api.types
    if len(column) and column.isna().all():
        return "empty"
    if isinstance(dtype, pd.CategoricalDtype):
        return "text"
    if api.is_bool_dtype(dtype):
        return "boolean"
    if api.is_datetime64_any_dtype(dtype):
        return "date"
    if api.is_numeric_dtype(dtype) and not api.is_complex_dtype(dtype):
        return "number"
    if api.is_object_dtype(dtype):
        found = api.infer_dtype(column, skipna=True)
        return {"string": "text", "empty": "empty"}.get(found, found)
    return "text" if api.is_string_dtype(dtype) else str(dtype)


def kind_of_array(name: str, array: Array) -> ColumnType:
    """Decide what one whole column is."""
    state = Profile(name)
    state.update(array)
    return state.decide()
