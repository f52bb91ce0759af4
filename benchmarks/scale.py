"""Time and memory of generated tables of 40 columns, from 10⁵ rows on, in 2, 20 and 200 groups.

Every measurement runs in a process of its own, so that its peak memory is its own. Times are
seconds of the processor; those of one pass, and of all that takes but seconds, are the least of
several, since other work on the machine only adds.
``train`` and ``predict`` are the commands, on folders of Parquet files; a pass and a fit are of
coded columns. All of it takes hours on two cores; with ``--keep FILE`` every measurement is
written down when it is made and not made again, so it can be done in several sittings, and
``--most SECONDS`` ends a sitting. What was not measured is not in the rows.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from _ranks import ranks
from _report import Goal, Row, arguments, at_least, at_most, peak_memory, report
from _scale_tables import N_COLUMNS, coded, write_table

GROUPS = (2, 20, 200)
# Rows of a table that is trained on in seconds.
BRIEF = 10**5


def nothing() -> Row:
    """Load what ``train`` loads, and read its options: what every process has, and what it takes.

    The command ends where it finds no table.
    """
    before = time.process_time()
    import fairsmooth.cli.training
    import fairsmooth.core.smoothing.probability
    import fairsmooth.persistence.pipelines
    import fairsmooth.tables.stored_fitting  # noqa: F401

    with suppress(Exception), redirect_stderr(StringIO()):
        train("no such table", "model")
    return {"processor seconds": time.process_time() - before}


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


def scoring(link: str) -> Row:
    """Score rows of 40 numbers by a linear model, beside scikit-learn's."""
    from sklearn.linear_model import LogisticRegression

    from fairsmooth import FairSmoothClassifier

    random = np.random.default_rng(0)
    X, groups = random.normal(size=(200_000, N_COLUMNS)), np.arange(200_000) % 2
    y = (X[:, 0] + random.normal(size=len(X)) > 0).astype(int)
    few = slice(0, 5000)
    model = FairSmoothClassifier(link=link, random_state=0)
    model.fit(X[few], y[few], sensitive_features=groups[few])
    plain = LogisticRegression().fit(X[few], y[few])
    times = [[_processor(lambda m=m: m.predict_proba(X)) for _ in range(5)] for m in (model, plain)]
    ours, theirs = (len(X) / min(each) for each in times)
    return {"rows per second": ours, "LogisticRegression": theirs, "share": ours / theirs}


PARTS: dict[str, Callable[..., Row]] = {
    part.__name__: part for part in (nothing, one_pass, fit, sparse, scoring, train, predict, ranks)
}


def _processor(action: Callable[[], Any]) -> float:
    before = time.process_time()
    action()
    return time.process_time() - before


class Kept:
    """Measurements, each made once: as long as a file says so, or this program runs."""

    def __init__(self, path: Path | None, most: float) -> None:
        self.path, self.ends = path, time.monotonic() + most
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self.known = {tuple(line["what"]): line["row"] for line in map(json.loads, lines)}

    def row(self, part: str, *what: Any, given: Sequence[Any] | None = None) -> Row | None:
        """Run one part in a process of its own with one thread; None if there is no time left."""
        key = (part, *map(str, what))
        if key in self.known or time.monotonic() > self.ends:
            return self.known.get(key)
        print(*key, file=sys.stderr)
        words = what if given is None else given
        command = [sys.executable, __file__, "--part", part, *map(str, words)]
        brief = part in ("nothing", "fit") or (part == "train" and int(what[0]) <= BRIEF)
        runs = [_run(command) for _ in range(3 if brief else 1)]
        self.known[key] = min(runs, key=lambda run: run.get("processor seconds", 0.0))
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps({"what": key, "row": self.known[key]}) + "\n")
        return self.known[key]

    def rows(self, part: str, names: Sequence[str], whats: Iterable[Sequence[Any]]) -> list[Row]:
        """Return what was measured of a part, with what it was measured on."""
        found = [(what, self.row(part, *what)) for what in whats]
        return [
            {"part": part, **dict(zip(names, what, strict=True)), **row}
            for what, row in found
            if row is not None
        ]


def _run(command: Sequence[str]) -> Row:
    began = time.perf_counter()
    # Libraries of linear algebra have threads of their own, which wait by counting.
    alone = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=alone)
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return {**row, "wall seconds": time.perf_counter() - began}


def run_part(part: str, given: list[str]) -> None:
    import torch

    torch.set_num_threads(1)
    row = PARTS[part](*(int(value) if value.isdigit() else value for value in given))
    whole = {"whole process": time.process_time(), "peak MiB": peak_memory()}
    print(json.dumps({**row, **whole}))


def commands(kept: Kept, tables: Iterable[tuple[int, int]]) -> list[Row]:
    """Run ``train`` and ``predict`` on tables, which are written when they are needed."""
    rows: list[Row] = []
    for n_rows, n_groups in tables:
        about = {"rows": n_rows, "groups": n_groups}
        with tempfile.TemporaryDirectory() as folder:
            table, model, output = (Path(folder, name) for name in ("table", "model", "out"))
            for part, given in (("train", (table, model)), ("predict", (model, table, output))):
                if (part, str(n_rows), str(n_groups)) not in kept.known:
                    if time.monotonic() > kept.ends:
                        continue
                    if not table.exists():
                        write_table(table, n_rows=n_rows, n_groups=n_groups)
                    if part == "predict" and not model.exists():
                        train(str(table), str(model))
                row = kept.row(part, n_rows, n_groups, given=given)
                rows += [] if row is None else [{"part": part, **about, **row}]
            shutil.rmtree(table, ignore_errors=True)
    return rows


def goals_of(rows: list[Row]) -> list[Goal]:
    """Return the goals of what was measured."""
    found = {(r["part"], r.get("rows"), r.get("groups")): r for r in rows}
    alone = next(r for r in rows if r["part"] == "nothing")
    libraries, loading = alone["peak MiB"], alone["processor seconds"]

    def value(part: str, n_rows: int, n_groups: int, name: str = "processor seconds") -> Any:
        return found.get((part, n_rows, n_groups), {}).get(name)

    goals: list[Goal] = []
    for n in (10**5, 10**6):
        pair = [value("one_pass", n, k, "ns per row and pass") for k in (2, 200)]
        if None not in pair:
            goals.append(at_most(f"ns per row and pass, {n:.0e} rows, 2 groups", pair[0], 250))
            goals.append(at_most(f"one pass, {n:.0e} rows, 200 groups to 2", pair[1] / pair[0], 2))
        fits = [value("fit", n, k) for k in (2, 200)]
        if None not in fits:
            goals.append(at_most(f"fit, {n:.0e} rows, 200 groups to 2", fits[1] / fits[0], 3))
    for k in GROUPS:
        mine = [r for r in rows if r["part"] == "train" and r["groups"] == k]
        per_row = [(r["processor seconds"] - loading) / r["rows"] for r in mine]
        whole = [r.get("whole process", np.nan) / r["rows"] for r in mine]
        for what, each in (("beyond loading", per_row), ("with loading", whole)):
            if len(mine) > 1 and np.isfinite(each).all():
                name = f"train, {k} groups, seconds per row {what}, most to least over sizes"
                goals.append(at_most(name, max(each) / min(each), 1.5))
        if mine:
            most = max(mine, key=lambda r: r["rows"])
            name = f"train, {k} groups, {most['rows']:.0e} rows, peak MiB"
            goals.append(at_most(name, most["peak MiB"], 2048))
            goals.append(at_most(f"{name} beyond libraries", most["peak MiB"] - libraries, 1229))
    scored = [r["peak MiB"] for r in rows if r["part"] == "predict"]
    if scored:
        goals.append(at_most("predict, peak MiB at any size", max(scored), 1229))
    for r in rows:
        if r["part"] == "ranks":
            goals.append(at_least("2 ranks, times as fast as 1", r["times as fast"], 1.5))
    least = {"probit": 0.5, "logistic": 0.25}
    for r in rows:
        if r["part"] == "scoring":
            name = f"linear scores, {r['link']}, of LogisticRegression's rows per second"
            goals.append(at_least(name, r["share"], least[r["link"]]))
    return goals


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--part", nargs="+", help="run one part; for this program itself")
    parser.add_argument("--rows", type=float, default=1e7, help="most rows of a table")
    parser.add_argument("--keep", type=Path, help="file that keeps measurements")
    parser.add_argument("--most", type=float, default=1e9, help="seconds after which none begins")
    options = parser.parse_args()
    if options.part:
        run_part(options.part[0], options.part[1:])
        return
    most = int(1e5 if options.quick else options.rows)
    sizes = [size for size in (10**5, 10**6, 10**7) if size <= most]
    kept, on = Kept(options.keep, options.most), ("rows", "groups")
    coded_sizes = [(n, k) for n in sizes if n <= 10**6 for k in GROUPS]
    rows = [
        *kept.rows("nothing", (), [()]),
        *kept.rows("one_pass", on, coded_sizes),
        *kept.rows("scoring", ("link",), [("probit",), ("logistic",)]),
        *commands(kept, [(n, k) for k in (GROUPS[:1] if options.quick else GROUPS) for n in sizes]),
        *kept.rows("fit", on, coded_sizes),
        *kept.rows("sparse", ("rows", "one-hot columns"), [(100_000, 10_000)]),
        *kept.rows("ranks", on, [(min(most, 10**6), 2)]),
    ]
    report(goals_of(rows), rows, as_json=options.json)


if __name__ == "__main__":
    main()
