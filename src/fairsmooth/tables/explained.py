"""From a model and a table to explanations of its rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from fairsmooth._types import Floats
from fairsmooth.core.labels import group_text
from fairsmooth.core.rows import spelt_out
from fairsmooth.data.known_texts import frame_with_texts
from fairsmooth.data.roles import sensitive_frame
from fairsmooth.exceptions import InputError
from fairsmooth.tables import scoring
from fairsmooth.tables.explaining import EVEN, DecisionExplanation, even_row, explain_rows

if TYPE_CHECKING:
    from fairsmooth.tables.model import TableModel


def explain_table(
    model: "TableModel",
    table: Any,
    *,
    rows: int | Sequence[int] | None = None,
    reference: Any = None,
    unknown: str | None = None,
) -> list[DecisionExplanation]:
    """Explain the decisions about rows: what each column adds, and what would change them.

    Parameters
    ----------
    table : DataFrame, polars or pyarrow table, or path
        As for ``predict``.
    rows : int or sequence of int, optional
        Numbers of the rows to explain, from 1; all of them if left out.
    reference : table, optional
        Rows whose mean is what a row is compared with, such as those of all applicants. If
        it is left out, a row that is spread evenly over the levels of every column.
    unknown : {"error", "ignore"}, optional
        As for ``predict``.

    Returns
    -------
    list of DecisionExplanation

    Raises
    ------
    InputError
        If a row cannot be scored, or the model knows no columns.
    """
    if model.encoder is None:
        raise InputError(
            "Expected a model that knows its table's columns, got one without an encoder. "
            "Use the classifier's own explain(X)."
        )
    frame = frame_with_texts(table, model.text_columns)
    numbers = _numbers(rows, len(frame))
    chosen = frame.iloc[[number - 1 for number in numbers]].reset_index(drop=True)
    features, reasons = model._features(chosen, unknown)
    for number, reason in zip(numbers, reasons, strict=True):
        if reason is not None:
            scoring.refuse_reasons(np.array([reason], dtype=object), first_row=number - 1)
    return explain_rows(
        model.classifier,
        model.encoder,
        features,
        chosen[model.encoder.columns],
        base=_reference(model, reference, unknown),
        labels=model._labels(),
        groups=_groups(model, chosen),
        numbers=numbers,
    )


def _numbers(rows: int | Sequence[int] | None, n_rows: int) -> list[int]:
    if rows is None:
        return list(range(1, n_rows + 1))
    numbers = []
    for row in [rows] if isinstance(rows, int) else rows:
        if isinstance(row, bool) or not isinstance(row, int | np.integer):
            raise InputError(f"Expected the number of a row, from 1, got {row!r}.")
        if not 1 <= row <= n_rows:
            raise InputError(f"Expected a row between 1 and {n_rows}, got {row}.")
        numbers.append(int(row))
    return numbers


def _reference(model: "TableModel", table: Any, unknown: str | None) -> tuple[Floats, str]:
    if table is None:
        return even_row(model.encoder), EVEN
    frame = frame_with_texts(table, model.text_columns)
    features, reasons = model._features(frame, unknown)
    usable = np.array([reason is None for reason in reasons], dtype=bool)
    if not usable.any():
        raise InputError(f"Expected a reference row that can be scored, got none of {len(frame)}.")
    said = f"the mean of {int(usable.sum()):,} rows of the reference table"
    return spelt_out(features)[usable].mean(axis=0), said


def _groups(model: "TableModel", rows: pd.DataFrame) -> list[str | None]:
    """Return the group of every row, None where the table does not say or the model has none."""
    roles = model.roles
    if roles is None or not set(roles.sensitive) <= set(rows.columns):
        return [None] * len(rows)
    texts = sensitive_frame(rows, roles).itertuples(index=False, name=None)
    known = {group_text(group) for group in model.classifier.groups_}
    found = [None if any(part is None for part in parts) else group_text(parts) for parts in texts]
    return [group if group in known else None for group in found]
