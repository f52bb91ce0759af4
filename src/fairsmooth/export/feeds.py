"""What to feed the graph of a model: a table's columns in the types that its inputs have."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairsmooth import _validate
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.known_texts import frame_with_texts
from fairsmooth.data.values import moments, normal_texts, numbers
from fairsmooth.export.columns import input_kinds
from fairsmooth.export.dates import MISSING_DATE, WRONG_DATE
from fairsmooth.export.graph import input_name


def graph_inputs(encoder: TableEncoder, table: Any) -> dict[str, NDArray[Any]]:
    """Return one array of shape (rows, 1) per input of the graph, ready for ``session.run``.

    Parameters
    ----------
    encoder : TableEncoder
        Of the model.
    table : table or path
        Anything that :func:`fairsmooth.data.frames.as_frame` reads.

    Returns
    -------
    dict
        Texts in normal form, empty where missing; numbers in float64, NaN where missing and
        infinite where there is something else; dates in microseconds since 1970 (UTC), the least
        int64 where missing and the largest where there is something else.

    Examples
    --------
    >>> table = {"age": [31, None], "job": [" clerk", "n/a"]}
    >>> encoder = TableEncoder.learn(table)
    >>> {name: column.ravel().tolist() for name, column in graph_inputs(encoder, table).items()}
    {'age': [31.0, nan], 'job': ['clerk', '']}
    """
    frame = frame_with_texts(table, encoder.text_columns)
    fed = {}
    for name, kind in input_kinds(encoder).items():
        _validate.known_column(name, list(frame.columns), where="the table")
        fed[input_name(name)] = _FEEDS[kind](name, frame[name]).reshape(-1, 1)
    return fed


def _texts(name: str, column: Any) -> NDArray[Any]:
    found = normal_texts(name, column)
    return np.array([text or "" for text in found], dtype=object)


def _numbers(name: str, column: Any) -> NDArray[Any]:
    read = numbers(name, column)
    return np.where(read.missing, np.nan, np.where(read.wrong, np.inf, read.values))


def _dates(name: str, column: Any) -> NDArray[Any]:
    read = moments(name, column)
    given = read.values.astype("datetime64[us]").astype(np.int64)
    return np.where(read.missing, MISSING_DATE, np.where(read.wrong, WRONG_DATE, given))


_FEEDS = {str: _texts, float: _numbers, int: _dates}
