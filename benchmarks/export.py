"""The ONNX graph beside the library, and explanations that add up and come true.

Models of Adult and COMPAS (raw columns) and of 20 messy tables are written as graphs and run on
onnxruntime: scores, decisions and intervals against the library's, on 100,000 rows in all
(Adult's rows, repeated). One call is timed for one row, raw and encoded, the least of many.
A weight is changed in its last digit; ``verify`` must refuse the file. Explanations of 10,000 rows
must add up, and 200 rows must be decided otherwise once the stated change is made.
"""

import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
from _report import Goal, Row, arguments, at_least, at_most, report
from onnx import numpy_helper

from fairsmooth import FairSmoothClassifier
from fairsmooth.datasets import load_adult, load_compas
from fairsmooth.export import graph_inputs, write_onnx
from fairsmooth.tables import TableModel
from fairsmooth.verify import verify

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.messy_tables import COLUMNS, messy

# As docs/serving.md states them.
SCORE_BOUND, WIDER_BY = 1e-9, 5e-8
MESSY = (
    "whole-gaps", "real-gaps", "large-reals", "one-gap", "constant-and-gaps", "flags-gaps",
    "flag-words", "words-n/a", "words-spaces", "numbers-late-letter", "codes-leading-zero",
    "codes-large", "dates", "dates-gaps", "dates-wrong", "moments-text", "many-categories",
    "unicode", "half-numbers", "exponents",
)  # fmt: skip


def main() -> None:
    options = arguments(__doc__).parse_args()
    warnings.simplefilter("ignore")
    n_rows = 100_000
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        models = dict(_models(quick=options.quick))
        rows = [_compared(name, *case, folder, n_rows) for name, case in models.items()]
        model, table = models["adult logistic"]
        timed = _timed(model, table, folder)
        refused = _refused(folder)
        explained = _explained(model, table, quick=options.quick)
    goals = [
        at_most("largest difference of a score", _worst(rows, "score_error"), SCORE_BOUND),
        at_most("rows decided otherwise", sum(row["decided_otherwise"] for row in rows), 0),
        at_most("rows scored by one of the two only", sum(r["one_only"] for r in rows), 0),
        at_least("least that an end is outside the library's", -_worst(rows, "inside"), 0.0),
        at_most("most that an end is outside the library's", _worst(rows, "wider"), WIDER_BY),
        at_least("rows compared", sum(row["rows"] for row in rows), n_rows),
        at_most("microseconds for one encoded row", timed["encoded"], 30.0),
        at_most("microseconds for one raw row", timed["raw"], 200.0),
        at_least("changed weights refused, of 20", refused, 20),
        *explained,
    ]
    report(goals, [*rows, timed], as_json=options.json)


def _models(*, quick: bool) -> Iterator[tuple[str, tuple[TableModel, pd.DataFrame]]]:
    """Train on a part: the graph is what is measured here."""
    cases: dict[str, Callable[[], Any]] = {"adult": load_adult, "compas": load_compas}
    for name, load in cases.items():
        data = load(encoding="raw")
        table = data.X.assign(label=data.y, group=data.sensitive_features)
        for link in ("logistic", "probit"):
            columns = "standardised" if link == "probit" else "binned"
            yield f"{name} {link}", (_trained(table.iloc[: 3000 if quick else 20_000],
                                              "label", "group", link, columns), table)  # fmt: skip
    for place, kind in enumerate(MESSY):
        table = pd.DataFrame(messy(COLUMNS[kind]))
        link = ("logistic", "probit")[place % 2]
        columns = ("binned", "standardised")[place // 2 % 2]
        yield kind, (_trained(table, "risk", "sex", link, columns), table)


def _trained(table: pd.DataFrame, label: str, group: str, link: str, columns: str) -> TableModel:
    positive = "good" if label == "risk" else None
    classifier = FairSmoothClassifier(link=link, alpha=0.01, free_reference=False)
    return TableModel.fit(
        table, label=label, positive=positive, sensitive=group, columns=columns,
        classifier=classifier, random_state=0, unknown="ignore",
    )  # fmt: skip


def _session(path: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _compared(name: str, model: TableModel, table: pd.DataFrame, folder: Path, n_rows: int) -> Row:
    model.save(folder / "model")
    write_onnx(folder / "model", folder / "model.onnx")
    times = -(-n_rows // len(table)) if name == "adult logistic" else 1
    rows = pd.concat([table] * times, ignore_index=True)[:n_rows]
    fed = graph_inputs(model.encoder, rows)
    began = time.perf_counter()
    scores, decisions, ends = _session(folder / "model.onnx").run(None, fed)
    seconds = time.perf_counter() - began
    found = model.predict(rows)
    known = found["probability"].notna().to_numpy()
    theirs = found["probability"].to_numpy()[known]
    positive = (theirs > model.classifier.threshold_).astype(int)
    clear = np.abs(theirs - model.classifier.threshold_) > SCORE_BOUND
    library = found.filter(regex="^(lower|upper)_").to_numpy()[known].reshape(len(theirs), -1, 2)
    wider = (ends[known] - library) * [-1.0, 1.0]
    return {
        "model": name,
        "rows": len(rows),
        "score_error": float(np.abs(scores[known] - theirs).max()),
        "decided_otherwise": int((decisions[known] != positive)[clear].sum()),
        "one_only": int((np.isnan(scores) == known).sum()),
        "inside": float((-wider).max()),
        "wider": float(wider.max()),
        "rows_per_second": round(len(rows) / seconds),
    }


def _worst(rows: list[Row], name: str) -> float:
    return max(float(row[name]) for row in rows)


def _timed(model: TableModel, table: pd.DataFrame, folder: Path) -> Row:
    """Return the least microseconds of one call for one row; also leaves both files."""
    model.save(folder / "adult")
    write_onnx(folder / "adult", folder / "raw.onnx")
    write_onnx(folder / "adult", folder / "encoded.onnx", encoded=True)
    first = table.iloc[:1]
    feeds = {
        "raw": graph_inputs(model.encoder, first),
        "encoded": {"features": model.encoder.transform(first).to_numpy()},
    }
    sessions = {name: _session(folder / f"{name}.onnx") for name in feeds}
    best = dict.fromkeys(feeds, float("inf"))
    for _ in range(200):
        for name, session in sessions.items():
            began = time.perf_counter()
            for _ in range(50):
                session.run(None, feeds[name])
            best[name] = min(best[name], (time.perf_counter() - began) / 50 * 1e6)
    return {"call": "one row, microseconds", **best}


def _refused(folder: Path) -> int:
    """Count the files that verify refuses, each with one weight changed in its last digit."""
    assert verify(folder / "raw.onnx").holds
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(20):
        model = onnx.load(folder / "raw.onnx")
        entry = next(t for t in model.graph.initializer if t.name == "/table")
        values = numpy_helper.to_array(entry).copy()
        place = int(rng.integers(len(values) - 2))
        values[place, 0] = np.nextafter(values[place, 0], np.inf)
        entry.CopyFrom(numpy_helper.from_array(values, entry.name))
        onnx.save(model, folder / "changed.onnx")
        refused += not verify(folder / "changed.onnx").holds
    return refused


def _explained(model: TableModel, table: pd.DataFrame, *, quick: bool) -> list[Goal]:
    features = model.encoder.transform(table.iloc[:10_000])
    found = model.classifier.explain(features)
    off = np.abs(found.reference_score + found.contributions.sum(axis=1) - found.scores)
    rows = table.iloc[:200].reset_index(drop=True)
    before = model.predict(rows)["prediction"]
    kept = stated = 0
    for row, explanation in enumerate(model.explain(rows)):
        total = explanation.reference_score + sum(explanation.contributions.values())
        off = np.append(off, abs(total - explanation.score))
        changes = explanation.changes[:2] if quick else explanation.changes
        if not changes:
            continue
        others = pd.concat([rows.iloc[[row]].astype(object)] * len(changes), ignore_index=True)
        for place, change in enumerate(changes):
            others.loc[place, change.column] = change.value
        turned = model.predict(others)["prediction"] != before[row]
        stated, kept = stated + len(changes), kept + int(turned.sum())
    return [
        at_most("contributions: most by which they do not add up", float(off.max()), 1e-9),
        at_least("contributions: rows", len(off), 10_200),
        at_least("stated changes tried", stated, 200),
        at_most("stated changes that do not change the decision", stated - kept, 0),
    ]


if __name__ == "__main__":
    main()
