"""Groups as users give them, made such that an array of them loses nothing."""

from typing import Any

import numpy as np
import pandas as pd

from fairsmooth.exceptions import InputError


def given_groups(sensitive_features: Any) -> Any:
    """Return sensitive features whose missing values are missing in an array of them too.

    NumPy makes the text "nan" of a NaN between texts: of the list that ``tolist`` gives of a
    column with gaps, people of unknown group would be a group with a certificate of its own.
    Rows of several lengths, and tables that are not in memory, are refused.

    Examples
    --------
    >>> given_groups(["f", float("nan"), "m"])
    array(['f', nan, 'm'], dtype=object)
    """
    refuse_lazy(sensitive_features)
    if not isinstance(sensitive_features, list | tuple):
        return sensitive_features
    values = np.array(sensitive_features, dtype=object)
    if values.ndim == 1:
        _refuse_ragged(sensitive_features)
    return values if pd.isna(values).any() else sensitive_features


def refuse_lazy(table: Any) -> None:
    """Refuse a polars LazyFrame, whose rows nobody has computed yet."""
    kind = type(table)
    if kind.__name__ == "LazyFrame" and kind.__module__.startswith("polars"):
        raise InputError("Expected rows in memory, got a polars LazyFrame. Call its collect().")


def _refuse_ragged(rows: Any) -> None:
    # A value by itself is none of several: ("f",) beside "f" is refused too.
    sizes = [len(row) if isinstance(row, list | tuple) else None for row in rows]
    row = next((place for place, size in enumerate(sizes) if size != sizes[0]), None)
    if row is not None:
        said = ["a value by itself" if size is None else f"{size}" for size in sizes]
        raise InputError(
            f"Expected as many sensitive values in every row, got {said[0]} in row 0 and "
            f"{said[row]} in row {row}. Give every row all of them."
        )
