"""Rows that a rule cannot encode: why, row by row or in one line for the whole column."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairsmooth.data.columns import MISSING, UNKNOWN, Categories, Codes, Rule
from fairsmooth.data.columns.codes import Column
from fairsmooth.data.values import normal_text
from fairsmooth.exceptions import InputError

_SHOWN = 5

# A rule, the column it was given, the codes, and the rows that have none.
Fault = tuple[Rule, pd.Series, Codes, NDArray[np.bool_]]


def told(faults: Iterable[Fault], n_rows: int) -> NDArray[np.object_]:
    """Return None for every row, or in one line all reasons why it cannot be encoded."""
    lines = np.full(n_rows, None, dtype=object)
    for rule, column, codes, bad in faults:
        rows = np.flatnonzero(bad)
        for row, reason in zip(rows, reasons(rule, column, codes, rows), strict=True):
            if lines[row] is None:
                lines[row] = reason
            elif reason not in lines[row]:  # all parts of a date say the same
                lines[row] += f"; {reason}"
    return lines


def unscorable(rule: Rule, codes: Codes, unknown: str) -> NDArray[np.bool_]:
    """Tell which rows cannot be encoded; categories may be told to become zeros."""
    if isinstance(rule, Categories) and unknown == "ignore":
        return np.zeros(len(codes), dtype=bool)
    return codes < 0


def reasons(rule: Rule, column: Column, codes: Codes, rows: NDArray[np.intp]) -> list[str]:
    """Say for each of these rows why it cannot be encoded."""
    values = column.iloc[rows].tolist()
    return [
        f"{rule.name} is missing, which no row was in training"
        if code == MISSING
        else f"{rule.name} is {_shown(value)}, {rule.fault}"
        for code, value in zip(codes[rows].tolist(), values, strict=True)
    ]


def refusal(rule: Rule, column: Column, codes: Codes, *, offset: int) -> InputError:
    """Return the error for rows that cannot be encoded; rows count from 1 in the user's table."""
    wrong = np.flatnonzero(codes == UNKNOWN)
    gaps = np.flatnonzero(codes == MISSING)
    first = int((wrong if len(wrong) else gaps)[0])
    place = f"the first in row {offset + first + 1}"
    advice = ", or set unknown to 'ignore'" if isinstance(rule, Categories) else ""
    if not len(wrong):
        return InputError(
            f"Expected a value in every row of column {rule.name!r}, as in training, "
            f"got {len(gaps)} missing ({place}). Fill them in{advice}."
        )
    if isinstance(rule, Categories):
        new = sorted({str(normal_text(value)) for value in column.iloc[wrong]})
        return InputError(
            f"Expected column {rule.name!r} to hold known categories ({_listed(rule.values)}), "
            f"got {_listed(new)} ({place}). Correct them{advice}."
        )
    what = {"date": "dates"}.get(rule.kind, "finite numbers")
    return InputError(
        f"Expected {what} in column {rule.name!r}, as in training, got {len(wrong)} that are "
        f"{rule.fault} ({place}: {_shown(column.iloc[first])}). Correct them."
    )


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _listed(values: Any) -> str:
    shown = ", ".join(_shown(value) for value in values[:_SHOWN])
    return f"{shown} and {len(values) - _SHOWN} more" if len(values) > _SHOWN else shown
