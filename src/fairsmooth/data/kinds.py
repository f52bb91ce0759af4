"""Which kind of values a column holds, decided over all its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from fairsmooth.data.conversion import (
    Array,
    ColumnType,
    all_match,
    arrow_kind,
    dates,
    is_missing,
    is_placeholder,
    trimmed,
    with_point,
)
from fairsmooth.data.values import DATE, LARGEST_EXACT, NUMBER, TRUTH, WHOLE
from fairsmooth.exceptions import InputError

# In the order of preference: whole numbers are numbers too.
_KINDS = ("boolean", "integer", "float", "date", "other")
# What is so for a column if it is so for one of its rows.
_ANY_ROW = ("missing", "values", "placeholders", "inexact")


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

    @classmethod
    def of(cls, name: str, *, decimal: str = ".", text: bool = False) -> "Profile":
        """Start with no rows; a column that is known to be ``text`` cannot be anything else."""
        return cls(name, decimal, kinds=set() if text else {*_KINDS})

    def update(self, array: Array) -> None:
        """Take further rows into account."""
        kind = arrow_kind(array.type)
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
        texts = self._few(trimmed(array))
        known = texts.filter(pc.invert(is_missing(texts)))
        self.missing |= len(known) < len(texts)
        values = known.filter(pc.invert(is_placeholder(known)))
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
        patterns = {"boolean": TRUTH, "integer": WHOLE, "float": number, "date": DATE}
        if kind not in patterns or not all_match(values, patterns[kind]):
            return False
        return kind != "date" or dates(values).null_count == 0

    def _note_too_large(self, values: Array) -> None:
        numbers = pc.cast(with_point(values, self.decimal), pa.float64())
        named = pc.match_substring(values, "inf", ignore_case=True)
        infinite = values.filter(pc.and_not(pc.is_inf(numbers), named))
        if self.too_large is None and len(infinite):
            self.too_large = infinite[0].as_py()

    def told(self) -> dict[str, Any]:
        """Return what the rows said, as plain data, for whoever has the other rows."""
        kinds = [kind for kind in _KINDS if kind in self.kinds]
        return {"kinds": kinds, "too_large": self.too_large} | {
            name: getattr(self, name) for name in _ANY_ROW
        }

    def hear(self, told: Mapping[str, Any]) -> None:
        """Take into account what rows elsewhere said."""
        self.kinds &= {*told["kinds"]}
        self.too_large = self.too_large or told["too_large"]
        for name in _ANY_ROW:
            setattr(self, name, bool(getattr(self, name) or told[name]))

    def decide(self) -> ColumnType:
        """Return what the column is, now that all rows were seen."""
        nullable = self.missing or self.placeholders
        if not self.kinds:
            return ColumnType("text", nullable)
        if not self.values:
            return ColumnType("text" if self.placeholders else "empty", nullable)
        kind = next(kind for kind in _KINDS if kind in self.kinds)
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


def _is_exact(array: Array) -> bool:
    ends = pc.min_max(array)
    return max(abs(ends["min"].as_py()), abs(ends["max"].as_py())) <= LARGEST_EXACT


def _is_exact_text(texts: Array) -> bool:
    digits = len(str(LARGEST_EXACT))
    long = texts.filter(pc.greater_equal(pc.utf8_length(texts), digits)).to_pylist()
    return all(len(text) <= digits + 1 and abs(int(text)) <= LARGEST_EXACT for text in long)


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
        return {"string": "text", "mixed": "lists or a mixture"}.get(found, found)
    return "text" if api.is_string_dtype(dtype) else str(dtype)


def kind_of_array(name: str, array: Array, *, text: bool = False) -> ColumnType:
    """Decide what one whole column is; ``text`` if it is known to hold categories."""
    state = Profile.of(name, text=text)
    state.update(array)
    return state.decide()
