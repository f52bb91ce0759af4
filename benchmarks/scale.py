"""Time and memory of generated tables of 40 columns, from 10⁵ rows on, in 2, 20 and 200 groups.

Every measurement runs in a process of its own, so that its peak memory is its own. Times of one
pass are the least of several, in seconds of the processor: other work on the machine only adds.
``train`` and ``predict`` are the commands, on Parquet; a pass and a fit are of coded columns.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _report import Goal, Row, arguments, at_most, peak_memory, report

N_COLUMNS, N_LEVELS, PIECE = 40, 11, 200_000
GROUPS = (2, 20, 200)


def write_table(path: Path, *, n_rows: int, n_groups: int) -> None:
    """Write 20 columns of numbers and 20 of categories, a group and a label."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(0)
    levels = pa.array([f"level {level:02d}" for level in range(N_LEVELS)])
    names = pa.array([f"group {group:03d}" for group in range(n_groups)])
    writer = None
    for start in range(0, n_rows, PIECE):
        n = min(PIECE, n_rows - start)
        numbers = random.normal(size=(n, N_COLUMNS // 2)).round(3)
        codes = random.integers(0, N_LEVELS, (n, N_COLUMNS // 2), dtype=np.int32)
        groups = random.integers(0, n_groups, n, dtype=np.int32)
        logit = 0.4 * numbers[:, :5].sum(1) + 0.2 * (codes[:, 0] - 5) + 0.3 * (groups % 2)
        columns: dict[str, Any] = {f"number {j}": numbers[:, j] for j in range(numbers.shape[1])}
        for j in range(codes.shape[1]):
            dictionary = pa.DictionaryArray.from_arrays(pa.array(codes[:, j]), levels)
            columns[f"category {j}"] = dictionary.cast(pa.string())
        columns["group"] = pa.DictionaryArray.from_arrays(pa.array(groups), names).cast(pa.string())
        columns["label"] = (random.random(n) < 1.0 / (1.0 + np.exp(-logit))).astype(np.int8)
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


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


def nothing() -> Row:
    """Load the libraries and do nothing: what every process has in memory."""
    import fairsmooth.cli.training
    import fairsmooth.tables.fitting  # noqa: F401

    return {}


def one_pass(n_rows: int, n_groups: int) -> Row:
    """Time one evaluation of the objective with its gradient."""
    from fairsmooth.training.grouped import GroupedRows
    from fairsmooth.training.linear_pass import LinearPass

    rows, y, groups = coded(n_rows, n_groups)
    by_group = [np.flatnonzero(groups == group) for group in range(n_groups)]
    ours = LinearPass(GroupedRows.of(rows, y, by_group), 1.0, "logistic")
    parameters = np.random.default_rng(1).normal(size=(n_groups, rows.shape[1] + 1)) * 0.1
    ours.contribution(parameters)
    times = [_processor(lambda: ours.contribution(parameters)) for _ in range(7)]
    return {"ns per row and pass": min(times) / n_rows * 1e9}


def fit(n_rows: int, n_groups: int) -> Row:
    """Fit coded columns, with the reference without the tie."""
    from fairsmooth import FairSmoothClassifier

    rows, y, groups = coded(n_rows, n_groups)
    model = FairSmoothClassifier(random_state=0)
    seconds = _processor(lambda: model.fit(rows, y, sensitive_features=groups))
    return {"processor seconds": seconds, "iterations": model.n_iter_}


def sparse(n_rows: int, n_columns: int) -> Row:
    """Fit and score a SciPy matrix of one-hot columns, 10 entries in a row."""
    from scipy.sparse import csr_array

    from fairsmooth import FairSmoothClassifier

    random = np.random.default_rng(0)
    columns = random.integers(0, n_columns // 10, (n_rows, 10)) + np.arange(10) * (n_columns // 10)
    entries = np.ones(columns.size), columns.ravel(), np.arange(n_rows + 1) * 10
    X = csr_array(entries, shape=(n_rows, n_columns))
    y = (random.random(n_rows) < 0.3 + 0.4 * (columns[:, 0] % 2)).astype(int)
    groups = random.integers(0, 2, n_rows)
    model = FairSmoothClassifier(random_state=0, weight_decay=1e-3)
    seconds = _processor(lambda: model.fit(X, y, sensitive_features=groups))
    scoring = _processor(lambda: model.predict_proba(X))
    return {"processor seconds": seconds, "scoring": scoring, "iterations": model.n_iter_}


def train(table: str, model: str) -> Row:
    """Run the command ``train``."""
    from fairsmooth.cli.main import app

    given = [table, "--label", "label", "--sensitive", "group", "-o", model, "--json"]
    return {"processor seconds": _processor(lambda: app(["train", *given], standalone_mode=False))}


def predict(model: str, table: str, output: str) -> Row:
    """Run the command ``predict``."""
    from fairsmooth.cli.main import app

    given = ["predict", model, table, "-o", output]
    return {"processor seconds": _processor(lambda: app(given, standalone_mode=False))}


PARTS: dict[str, Callable[..., Row]] = {
    part.__name__: part for part in (nothing, one_pass, fit, sparse, train, predict)
}


def _processor(action: Callable[[], Any]) -> float:
    before = time.process_time()
    action()
    return time.process_time() - before


def measured(part: str, *given: Any) -> Row:
    """Run one part in a process of its own with one thread; add its peak memory."""
    print(part, *given, file=sys.stderr)
    command = [sys.executable, __file__, "--part", part, *map(str, given)]
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return {**row, "wall seconds": time.perf_counter() - began}


def run_part(part: str, given: list[str]) -> None:
    import torch

    torch.set_num_threads(1)
    row = PARTS[part](*(int(value) if value.isdigit() else value for value in given))
    print(json.dumps({**row, "peak MiB": peak_memory()}))


def commands(sizes: list[int], groups: tuple[int, ...], libraries: float) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        table, model, output = (str(Path(folder, name)) for name in ("t.parquet", "m", "o.parquet"))
        for n_rows in sizes:
            # An audit scores every row by every group's own classifier; once is enough.
            for n_groups in groups if n_rows == sizes[0] else groups[:1]:
                write_table(Path(table), n_rows=n_rows, n_groups=n_groups)
                for part, given in (("train", (table, model)), ("predict", (model, table, output))):
                    row = measured(part, *given)
                    about = {"command": part, "rows": n_rows, "groups": n_groups}
                    rows.append({**about, **row, "beyond libraries": row["peak MiB"] - libraries})
    return rows


def goals_of(passes: list[Row], fits: list[Row], done: list[Row]) -> list[Goal]:
    by_pass = {(row["rows"], row["groups"]): row["ns per row and pass"] for row in passes}
    by_fit = {(row["rows"], row["groups"]): row["processor seconds"] for row in fits}
    n = min(size for size, _ in by_pass)
    goals = [at_most("ns per row and pass, 40 columns, 2 groups", by_pass[n, 2], 250)]
    ratio = by_pass[n, 200] / by_pass[n, 2]
    goals.append(at_most("one pass, 200 groups against 2", ratio, 2))
    goals.append(at_most("fit, 200 groups against 2", by_fit[n, 200] / by_fit[n, 2], 3))
    trained = [row for row in done if row["command"] == "train" and row["groups"] == 2]
    per_row = [row["processor seconds"] / row["rows"] for row in trained]
    if len(trained) > 1:
        goals.append(
            at_most("train, seconds per row across sizes", max(per_row) / min(per_row), 1.5)
        )
    largest = max(trained, key=lambda row: row["rows"])
    goals.append(
        at_most(f"train, peak MiB at {largest['rows']:.0e} rows", largest["peak MiB"], 2048)
    )
    scored = max(row["peak MiB"] for row in done if row["command"] == "predict")
    return [*goals, at_most("predict, peak MiB at any size", scored, 1229)]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--part", nargs="+", help="run one part; for this program itself")
    parser.add_argument("--rows", type=float, help="most rows of a table (1e6 if left out)")
    options = parser.parse_args()
    if options.part:
        run_part(options.part[0], options.part[1:])
        return
    most = int(options.rows or (1e5 if options.quick else 1e6))
    sizes = [size for size in (10**5, 10**6, 10**7) if size <= most]
    groups = (2,) if options.quick else GROUPS
    libraries = measured("nothing")["peak MiB"]
    counts = [(size, count) for size in sizes for count in GROUPS]
    passes = [
        {"rows": n, "groups": k, **measured("one_pass", n, k)} for n, k in counts if n <= 10**6
    ]
    fits = [{"rows": n, "groups": k, **measured("fit", n, k)} for n, k in counts]
    wide = (10_000, 1000) if options.quick else (100_000, 10_000)
    one_hot = [{"rows": wide[0], "one-hot columns": wide[1], **measured("sparse", *wide)}]
    done = commands([size for size in sizes if size <= 10**6], groups, libraries)
    rows = [*passes, *fits, *one_hot, {"part": "libraries alone", "peak MiB": libraries}, *done]
    report(goals_of(passes, fits, done), rows, as_json=options.json)


if __name__ == "__main__":
    main()
