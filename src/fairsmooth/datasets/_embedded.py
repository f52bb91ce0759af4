"""The tables inside the package, checked against their checksums when first read."""

import hashlib
import io
from functools import cache
from importlib import resources

import pandas as pd
import pyarrow.parquet as pq

from fairsmooth.exceptions import FairSmoothError


def read_table(name: str, checksum: str) -> pd.DataFrame:
    """Return a fresh copy of an embedded table, so that no caller can alter another's."""
    return _checked_table(name, checksum).copy()


@cache
def _checked_table(name: str, checksum: str) -> pd.DataFrame:
    content = (resources.files("fairsmooth.datasets") / "_files" / name).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != checksum:
        raise FairSmoothError(
            f"Expected the embedded file {name} with SHA-256 {checksum}, got {found}. "
            "It was altered or damaged: install the package again."
        )
    frame: pd.DataFrame = pq.read_table(io.BytesIO(content)).to_pandas()
    return frame
