"""Accuracy, gaps and certificate together, on random 70/30 splits, beside the field.

The experiment is ``fairsmooth reproduce tradeoff``; here its rows are averaged and held against
the goals. Every method chooses its parameters inside the training part, by cross-validation: the
decisions on the rows left out of three folds, taken together, are judged against the goals of
the setting. The test part is used once per split, for the chosen one. ΔEO is the sum
|ΔTPR| + |ΔFPR|. The group is not a feature and not used to predict, except where a method is
marked †; sex and race are both left out.

Columns: "coarse" has four intervals per number, "binned" ten, "crossed" sixty and the products
of rough indicators. They are learned from the rows that the model is fitted on.

The last rows of every setting are no method but a ceiling: the best accuracy of *any*
randomised rule that sees two cross-fitted forecasts per row, of the label and of the group,
within the goals, fitted to the very rows it is judged on.
"""

import argparse
import sys
import tempfile

import numpy as np
import pandas as pd
from _report import Goal, Row, arguments, at_least, at_most, report

from fairsmooth.experiments import (
    Profile,
    Progress,
    Selection,
    Store,
    experiment,
    rows_of,
    run_experiments,
)

EXPERIMENT = experiment("tradeoff")
GOALS = EXPERIMENT.fixed
METHOD = "FairSmooth with parity"


def measure(options: argparse.Namespace) -> list[Row]:
    """Run the experiment afresh and return mean and standard error by setting and method."""
    splits = 2 if options.quick else options.splits
    budget = Profile("tradeoff", n_trials=splits, n_candidates=1, quick=options.quick)
    selection = Selection(only=("compas",) if options.quick else ())
    store = Store(tempfile.mkdtemp())
    run_experiments(
        [EXPERIMENT], budget, store, selection=selection, n_jobs=options.jobs, report=tell
    )
    table = rows_of(EXPERIMENT, budget, store, selection)
    for row in table[table["status"] != "done"].to_dict("records"):
        print(f"failed: {row['method']}, {row['case']}: {row['reason']}", file=sys.stderr)
    table = table[table["status"] == "done"]
    ceiling = table["method"].str.startswith("ceiling")
    return [*summary(table[~ceiling]), *map(ceiling_row, table[ceiling].to_dict("records"))]


def tell(state: Progress) -> None:
    print(f"{state.done} of {state.total} {state.label}", file=sys.stderr, flush=True)


def summary(table: pd.DataFrame) -> list[Row]:
    """Return mean and standard error over splits by setting and method."""
    out = []
    for (case, method), part in table.groupby(["case", "method"], sort=False):
        row: Row = {"setting": setting(case), "method": method, "splits": len(part)}
        for name in EXPERIMENT.metrics:
            mean, error = part[name].mean(), part[name].std() / np.sqrt(len(part))
            row[name] = None if np.isnan(mean) else round(float(mean), 4)
            row[f"{name}_se"] = None if np.isnan(error) else round(float(error), 4)
        out.append(row)
    return out


def ceiling_row(row: Row) -> Row:
    return {
        "setting": setting(row["case"]),
        "method": row["method"],
        "splits": 0,
        "accuracy": round(float(row["accuracy"]), 4),
    }


def setting(case: str) -> str:
    return case.replace("-", " ")


def readable(row: Row) -> Row:
    """Put mean and standard error into one cell."""
    columns = {
        "accuracy": "acc",
        "demographic_parity": "ΔDP",
        "equalized_odds_sum": "ΔEO",
        "epsilon": "ε",
    }
    out: Row = {"setting": row["setting"], "method": row["method"]}
    for name, label in columns.items():
        mean, error = row.get(name), row.get(f"{name}_se")
        text = "" if mean is None else f"{mean:.3f}"
        out[label] = text if error is None else f"{text}±{error:.3f}"
    return out


def goals(rows: list[Row]) -> list[Goal]:
    found = {(row["setting"], row["method"]): row for row in rows}
    out = []
    for case, limits in GOALS.items():
        name = setting(case)
        row = found.get((name, METHOD))
        if row is None:
            continue
        out += [
            at_least(f"{name}: accuracy", row["accuracy"], limits["accuracy"]),
            at_most(f"{name}: ΔDP", row["demographic_parity"], limits["demographic_parity"]),
            at_most(f"{name}: ΔEO (sum)", row["equalized_odds_sum"], limits["equalized_odds_sum"]),
            at_most(f"{name}: ε", row["epsilon"], limits["epsilon"]),
        ]
    return out


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = measure(options)
    shown = rows if options.json else [readable(row) for row in rows]
    report(goals(rows), shown, as_json=options.json)


if __name__ == "__main__":
    main()
