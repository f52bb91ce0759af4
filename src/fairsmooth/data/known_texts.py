"""Tables for a model that exists: what it took for categories must be single values again."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
import pyarrow as pa

from fairsmooth.data.frames import as_frame
from fairsmooth.data.kinds import kind_of
from fairsmooth.data.values import unusable

# What Arrow says of lists and the like, and of bytes that are no UTF-8.
_NO_TEXT = (pa.ArrowNotImplementedError, pa.ArrowInvalid)


def frame_with_texts(table: Any, text: Collection[str]) -> pd.DataFrame:
    """Return any table in normal form, some columns as texts whatever their values look like.

    Raises
    ------
    InputError
        As :func:`fairsmooth.data.frames.as_frame` does, and if one of the columns in ``text``
        holds lists, structs or bytes, which are no texts.

    Examples
    --------
    >>> frame_with_texts({"code": ["1", "2"]}, ["code"])["code"].tolist()
    ['1', '2']
    """
    try:
        return as_frame(table, text=text)
    except _NO_TEXT:
        plain = as_frame(table)
        for name in text:  # Arrow does not name the column
            with single_values(name, kind_of(plain[name]) if name in plain else "nothing"):
                as_frame(table, text=[name])
        raise


@contextmanager
def single_values(name: str, found: Any) -> Iterator[None]:
    """Name the column, and what was found in it, where Arrow cannot turn its values into texts."""
    try:
        yield
    except _NO_TEXT as error:
        raise unusable(name, str(found)) from error
