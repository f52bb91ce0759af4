"""One normal form for labels, groups and categories, whatever a value came from.

Two values are the same if their normal texts are: 1, 1.0, ``"1"`` and ``"1.0"``
alike, true, ``"true"`` and ``"TRUE"`` alike, surrounding spaces ignored. A text
with a leading zero is a code: ``"01"`` is not 1.
"""

import datetime
import decimal
import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth.exceptions import InputError

# Texts that mean "no value", in any column.
MISSING_TEXTS = (
    "", "?", "n/a", "N/A", "NA", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "NaT",
)  # fmt: skip
# Texts that mean "no value" between numbers, dates or true/false, but may well be a category.
PLACEHOLDERS = ("None", "none", "-", "--", ".", "na")
WHOLE = r"[+-]?(0|[1-9][0-9]*)"
NUMBER = rf"({WHOLE}(\.[0-9]*)?|[+-]?\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|Infinity)"
TRUTH = r"(?i:true|false)"
# 2024-12-31, 2024/12/31 or 31.12.2024, perhaps with a time and a zone. Dates with the month
# or the day first by custom only (12/31/2024) stay text.
DATE = (
    r"([0-9]{4}[-/][0-9]{2}[-/][0-9]{2}"
    r"|(?P<day>[0-9]{2})\.(?P<month>[0-9]{2})\.(?P<year>[0-9]{4}))"
    r"([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
# Whole numbers up to this are exact in float64; beyond it they are names, not quantities.
LARGEST_EXACT = 2**53

_NUMBER = re.compile(NUMBER)
_WHOLE = re.compile(WHOLE)
_TRUTH = re.compile(TRUTH)
_DATE = re.compile(DATE)
_MISSING = frozenset(MISSING_TEXTS)
_NO_NUMBER = frozenset((*MISSING_TEXTS, *PLACEHOLDERS))


def normal_text(value: Any) -> str | None:
    """Return the text that stands for a value, or None where there is none.

    Examples
    --------
    >>> [normal_text(value) for value in (1, 1.0, " 1.0 ", "01", True, "true", "n/a", -0.0)]
    ['1', '1', '1', '01', 'True', 'True', None, '0']
    """
    if isinstance(value, str):
        return _of_text(value.strip())
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return None
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, float | np.floating | decimal.Decimal):
        return _of_float(float(value))
    if isinstance(value, np.datetime64 | datetime.date):
        return _of_date(pd.Timestamp(value))
    return str(value)


def _of_text(text: str) -> str | None:
    if text in _MISSING:
        return None
    if _TRUTH.fullmatch(text):
        return text.capitalize()
    if not _NUMBER.fullmatch(text):
        moment = moment_of(text) if text[:1].isdigit() else None
        return text if moment is None else _of_date(moment)
    if _WHOLE.fullmatch(text):
        return text.removeprefix("+") if text != "-0" else "0"
    return _of_float(float(text))


def _of_float(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)


def _of_date(moment: pd.Timestamp) -> str:
    utc = moment.tz_convert(None) if moment.tzinfo is not None else moment
    return utc.isoformat().removesuffix("T00:00:00")


def moment_of(text: str) -> pd.Timestamp | None:
    """Read a date as a moment without a zone (UTC where one is given), or return None."""
    matched = _DATE.fullmatch(text)
    if matched is None:
        return None
    if matched["day"]:
        text = f"{matched['year']}-{matched['month']}-{matched['day']}{text[10:]}"
    try:
        moment = datetime.datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:  # the 31st of February
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return pd.Timestamp(moment)


def normal_codes(name: str, column: pd.Series) -> tuple[NDArray[np.intp], list[str]]:
    """Return a code per row, -1 where missing, and the normal text of each code."""
    codes, found = _factorize(name, column)
    texts = [normal_text(value) for value in found]
    unique = list(dict.fromkeys(text for text in texts if text is not None))
    place = {text: code for code, text in enumerate(unique)}
    lookup = np.array([*(-1 if text is None else place[text] for text in texts), -1], dtype=np.intp)
    return lookup[codes], unique


def normal_texts(name: str, column: pd.Series) -> pd.Series:
    """Return the normal text of every row, None where missing."""
    codes, texts = normal_codes(name, column)
    return pd.Series(np.array([*texts, None], dtype=object)[codes], dtype=object, name=name)


class Read(NamedTuple):
    """A column read as numbers or moments, 0 where there is none."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]
    wrong: NDArray[np.bool_]


def numbers(name: str, column: pd.Series) -> Read:
    """Read a column as float64; wrong is what is no finite number.

    Texts are read as in a file, and "true" is 1.
    """
    api = pd.api.types
    if api.is_numeric_dtype(column.dtype) and not api.is_complex_dtype(column.dtype):
        values = column.to_numpy(np.float64, na_value=np.nan)
    else:
        codes, found = _factorize(name, column)
        values = np.array([*map(_number_of, found), np.nan], dtype=np.float64)[codes]
    missing, wrong = np.isnan(values), np.isinf(values)
    if missing.any() or wrong.any():
        values = np.where(missing | wrong, 0.0, values)
    return Read(values, missing, wrong)


def moments(name: str, column: pd.Series) -> Read:
    """Read a column as moments; wrong is what is no date."""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        if isinstance(column.dtype, pd.DatetimeTZDtype):
            column = column.dt.tz_convert(None)
        values = column.to_numpy("datetime64[us]")
        return Read(values, np.isnat(values), np.zeros(len(values), dtype=bool))
    codes, found = _factorize(name, column)
    texts = [normal_text(value) for value in found]
    void = [text is None or text in _NO_NUMBER for text in texts]
    read = [
        None if empty else moment_of(str(text)) for text, empty in zip(texts, void, strict=True)
    ]
    values = np.array([pd.NaT if moment is None else moment for moment in (*read, None)])
    missing = np.array([*void, True])[codes]
    values = pd.DatetimeIndex(values).to_numpy("datetime64[us]")[codes]
    return Read(values, missing, np.isnat(values) & ~missing)


def _number_of(value: Any) -> float:
    """Return a number, NaN where missing, infinity where there is something else."""
    text = normal_text(value)
    if text is None or text in _NO_NUMBER:
        return np.nan
    if text in ("True", "False"):
        return float(text == "True")
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return np.inf
    return np.inf if np.isnan(number) or "_" in text else number


def _factorize(name: str, column: pd.Series) -> tuple[NDArray[np.intp], Any]:
    try:
        mixed = pd.api.types.infer_dtype(column, skipna=True).startswith("mixed")
        if mixed and column.map(pd.api.types.is_scalar).all():
            column = column.map(normal_text)  # to a dictionary, True is 1
        return pd.factorize(column)
    except TypeError as error:
        raise unusable(name, f"values that cannot be compared ({error})") from error


def unusable(name: str, found: str) -> InputError:
    """Return the error for a column of lists, bytes or other things that are no single value."""
    return InputError(
        f"Expected numbers, text, dates or true/false in column {name!r}, got {found}. "
        "Turn it into one of these or drop it."
    )
