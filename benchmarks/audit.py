"""Time of an audit: rates, gaps, intervals, shift curves and statements.

Goal: 100,000 rows in under 10 seconds, everything included.
"""

import argparse
import json
import os
import platform
import time
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression

from fairsmooth import FairSmoothClassifier
from fairsmooth.datasets import make_biased
from fairsmooth.metrics import audit

GOAL_SECONDS = 10.0
N_TRAINING_ROWS = 5_000
N_ROWS = 100_000
N_FEATURES = 20


def measure(n_groups: int, n_rows: int) -> dict[str, Any]:
    training = make_biased(N_TRAINING_ROWS, N_FEATURES, n_groups, random_state=0)
    fresh = make_biased(n_rows, N_FEATURES, n_groups, random_state=1)
    clf = FairSmoothClassifier(random_state=0)
    clf.fit(training.X, training.y, sensitive_features=training.sensitive_features)
    reference = LogisticRegression(max_iter=1000).fit(training.X, training.y)
    sample = {"X": fresh.X, "y": fresh.y, "sensitive_features": fresh.sensitive_features}
    began = time.perf_counter()
    audit(clf, **sample)
    plain = time.perf_counter() - began
    began, began_cpu = time.perf_counter(), time.process_time()
    result = audit(clf, **sample, shift=True, reference=reference)
    full, full_cpu = time.perf_counter() - began, time.process_time() - began_cpu
    assert result.shift is not None
    return {
        "n_rows": n_rows,
        "n_groups": n_groups,
        "seconds_without_shift": plain,
        "seconds": full,
        "cpu_seconds": full_cpu,
        "records": len(result.records),
        "curve_points": len(result.shift.points),
        "statements": len(result.statements),
    }


def report(rows: list[dict[str, Any]]) -> dict[str, Any]:
    goals = [
        {
            "name": f"audit of {row['n_rows']} rows, {row['n_groups']} groups, seconds",
            "value": row["seconds"],
            "goal": GOAL_SECONDS,
            "direction": "<=",
            "holds": row["seconds"] <= GOAL_SECONDS,
        }
        for row in rows
    ]
    machine = {
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    return {"goals": goals, "rows": rows, "machine": machine}


def show(found: dict[str, Any]) -> None:
    table = Table(title="Audit")
    for name in found["rows"][0]:
        table.add_column(name.replace("_", " "), justify="right")
    for row in found["rows"]:
        table.add_row(*(f"{v:.2f}" if isinstance(v, float) else str(v) for v in row.values()))
    console = Console()
    console.print(table)
    for goal in found["goals"]:
        verdict = "holds" if goal["holds"] else "missed"
        console.print(f"{goal['name']}: {goal['value']:.2f} (goal <= {goal['goal']:g}), {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object only")
    parser.add_argument("--quick", action="store_true", help="two groups only")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    found = report([measure(k, N_ROWS) for k in ((2,) if arguments.quick else (2, 5))])
    if arguments.json:
        print(json.dumps(found))
    else:
        show(found)


if __name__ == "__main__":
    main()
