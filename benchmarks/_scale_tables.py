"""Tables of 40 columns, in pieces and the same every time: in files, and as coded columns."""

from pathlib import Path
from typing import Any

import numpy as np

N_COLUMNS, N_LEVELS, PIECE = 40, 11, 200_000


def write_table(folder: Path, *, n_rows: int, n_groups: int) -> None:
    """Write 20 columns of numbers and 20 of categories, a group and a label, a file per piece."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    levels = pa.array([f"level {level:02d}" for level in range(N_LEVELS)])
    names = pa.array([f"group {group:03d}" for group in range(n_groups)])
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, n_rows, PIECE)):
        random, n = np.random.default_rng([number, n_groups]), min(PIECE, n_rows - start)
        numbers = random.normal(size=(n, N_COLUMNS // 2)).round(3)
        codes = random.integers(0, N_LEVELS, (n, N_COLUMNS // 2), dtype=np.int32)
        groups = random.integers(0, n_groups, n, dtype=np.int32)
        logit = 0.4 * numbers[:, :5].sum(1) + 0.2 * (codes[:, 0] - 5) + 0.3 * (groups % 2)
        columns: dict[str, Any] = {f"number {j}": numbers[:, j] for j in range(numbers.shape[1])}
        for j in range(codes.shape[1]):
            columns[f"category {j}"] = _texts(codes[:, j], levels)
        columns["group"] = _texts(groups, names)
        columns["label"] = (random.random(n) < 1.0 / (1.0 + np.exp(-logit))).astype(np.int8)
        pq.write_table(pa.table(columns), folder / f"{number:04d}.parquet")


def _texts(codes: np.ndarray, texts: Any) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes), texts).cast(pa.string())


def coded(n_rows: int, n_groups: int) -> Any:
    """Return coded columns with labels and groups that depend on them."""
    from fairsmooth.core.rows import CodedRows

    random = np.random.default_rng(0)
    width = N_LEVELS + 1
    features = np.tile([*range(N_LEVELS), -1], (N_COLUMNS, 1)) + np.arange(N_COLUMNS)[:, None] * 11
    features[:, -1] = -1
    codes = random.integers(0, N_LEVELS, (n_rows, N_COLUMNS), dtype=np.uint8)
    rows = CodedRows(
        codes,
        np.arange(N_COLUMNS) * width,
        features.ravel(),
        np.empty((n_rows, 0)),
        np.empty(0, dtype=np.int64),
        tuple(f"x{k}" for k in range(N_COLUMNS * N_LEVELS)),
    )
    groups = random.integers(0, n_groups, n_rows)
    signal = 0.2 * (codes[:, 0].astype(float) - codes[:, 1]) + 0.3 * (groups % 2)
    y = (random.random(n_rows) < 1.0 / (1.0 + np.exp(-signal))).astype(np.int64)
    return rows, y, groups
