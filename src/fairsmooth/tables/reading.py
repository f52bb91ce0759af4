"""The one place where this room asks the data room for rows, roles and notes."""

import hashlib
from typing import Any

import numpy as np
import pandas as pd

from fairsmooth.data.files import read_table
from fairsmooth.data.roles import Roles


def as_frame(table: Any) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table.reset_index(drop=True)
    return read_table(table)


def table_digest(frame: pd.DataFrame) -> str:
    values = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def sanity_notes(frame: pd.DataFrame, roles: Roles) -> list[str]:
    return []
