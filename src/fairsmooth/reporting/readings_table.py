"""One line per reading of the paper: how near it comes to the printed rows."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from fairsmooth.experiments import MAIN_METRICS, Experiment, read_printed
from fairsmooth.experiments.claims.readings import KINDS
from fairsmooth.reporting.compare import case_name
from fairsmooth.reporting.tables import Cell, Table


def readings_table(experiment: Experiment, rows: pd.DataFrame) -> Table:
    """Return a line per columns, schedule and kind of gap; accuracy / ΔDP / ΔEO and deviation."""
    printed = read_printed(experiment.printed).set_index("case")[list(MAIN_METRICS)]
    names = tuple(case_name(case) for case in experiment.cases)
    lines = [_printed_line(experiment, printed), *_lines(experiment, rows, printed)]
    columns = ("columns", "schedule", "gaps of", *names, "mean deviation", "with one pair")
    return Table("", columns, tuple(lines))


def _printed_line(experiment: Experiment, printed: pd.DataFrame) -> tuple[Cell, ...]:
    cells = [Cell(_triple(printed.xs(case))) for case in experiment.cases]
    return (Cell("printed", style="printed"), Cell(""), Cell(""), *cells, Cell(""), Cell(""))


def _lines(
    experiment: Experiment, rows: pd.DataFrame, printed: pd.DataFrame
) -> Iterator[tuple[Cell, ...]]:
    done = rows[rows["status"] == "done"]
    for (columns, schedule), part in done.groupby(["encoding", "method"], sort=False):
        for kind, prefix in KINDS.items():
            names = [MAIN_METRICS[0], *(f"{prefix}{name}" for name in MAIN_METRICS[1:])]
            means = part.fillna({"value": -1.0}).groupby(["case", "value"])[names].mean()
            means.columns = list(MAIN_METRICS)
            if set(experiment.cases) <= set(means.index.get_level_values("case")):
                figures = _nearest(experiment, means, printed)
                yield (Cell(str(columns)), Cell(str(schedule)), Cell(kind), *figures)


def _nearest(experiment: Experiment, means: pd.DataFrame, printed: pd.DataFrame) -> Iterator[Cell]:
    away = pd.DataFrame(
        {case: (means.xs(case) - printed.xs(case)).abs().T.mean() for case in experiment.cases}
    )
    for case in experiment.cases:
        pair = away[case].idxmin()
        yield Cell(_triple(means.xs((case, pair))), title=f"deviation {away[case].min():.3f}")
    yield Cell(f"{away.min().mean():.3f}")
    yield Cell(f"{away.mean(axis=1).min():.3f}")


def _triple(row: Any) -> str:
    return " / ".join(f"{row[name]:.3f}".removeprefix("0") for name in MAIN_METRICS)
