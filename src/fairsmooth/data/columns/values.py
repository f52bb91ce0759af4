"""Values of one column: which kind they are, and how they become numbers or codes."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth._types import Floats
from fairsmooth.exceptions import InputError

Column = pd.Series

_NUMBERS = {"integer", "floating", "mixed-integer-float", "decimal"}
_TEXT = {"string", "mixed", "mixed-integer", "boolean", "empty"}


def is_numeric(name: str, column: Column) -> bool:
    """Tell numbers from categories; true/false with gaps is a category."""
    kind = _kind(column)
    if kind not in _NUMBERS | _TEXT:
        raise InputError(
            f"Expected numbers, text or true/false in column {name!r}, got {kind}. "
            "Turn it into one of these or drop it."
        )
    return kind in _NUMBERS or (kind == "boolean" and not column.isna().any())


def _kind(column: Column) -> str:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "string"
    if pd.api.types.is_object_dtype(dtype):
        return str(pd.api.types.infer_dtype(column, skipna=True))
    if pd.api.types.is_bool_dtype(dtype):
        return "boolean"
    if pd.api.types.is_string_dtype(dtype):
        return "string"
    is_real = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype)
    return "floating" if is_real else str(dtype)


def numbers(name: str, column: Column) -> Floats:
    """Return a column as finite float64, or say what in it is none."""
    plain = column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column
    converted = pd.to_numeric(plain, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    bad = ~np.isfinite(converted)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"Expected finite numbers in column {name!r}, got {int(bad.sum())} missing, infinite "
            f"or not a number (the first is {column.iloc[row]} in row {row}). "
            "Fill them in, or drop the rows or the column."
        )
    return converted


def codes_and_texts(name: str, column: Column) -> tuple[NDArray[np.intp], list[str]]:
    """Return a code per row, -1 where missing, and the text of each code."""
    try:
        codes, found = pd.factorize(column)
    except TypeError as error:
        raise InputError(
            f"Expected numbers, text or true/false in column {name!r}, "
            f"got values that cannot be compared ({error}). Drop it."
        ) from error
    texts = [as_text(value) for value in found]
    unique = list(dict.fromkeys(texts))
    if len(unique) == len(texts):
        return codes, texts
    place = {text: code for code, text in enumerate(unique)}
    merged = np.array([*(place[text] for text in texts), -1], dtype=np.intp)
    return merged[codes], unique


def as_text(value: Any) -> str:
    """Write 1, 1.0 and "1" alike, so that a column read from another file format still fits."""
    if not isinstance(value, (float, np.floating)):
        return str(value)
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def write_indicators(codes: NDArray[np.intp], out: Floats) -> None:
    """Set one indicator per row; a lone column is that of code 1, a code of -1 sets none."""
    if out.shape[1] == 1:
        out[:, 0] = codes == 1
        return
    rows = np.flatnonzero(codes >= 0)
    out[rows, codes[rows]] = 1.0
