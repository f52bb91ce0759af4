"""Tables of the experiments that no printed column stands beside: draws, ceilings, trade-off."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fairsmooth.experiments import Experiment, read_printed
from fairsmooth.reporting.compare import with_error
from fairsmooth.reporting.reproduction_words import case_name, columns_name, measure_name
from fairsmooth.reporting.tables import Cell, Table

_COUNTS = ("rows", "columns", "cells")


def draws_table(experiment: Experiment, rows: pd.DataFrame) -> Table:
    """Return one line per case, model and number of draws."""
    lines = []
    for (case, model, number), part in rows.groupby(["case", "method", "value"]):
        cells = [Cell(case_name(str(case))), Cell(str(model)), Cell(f"{int(float(str(number))):,}")]
        cells += [
            Cell(with_error(part[name]) if name in part else "–") for name in experiment.metrics
        ]
        lines.append(tuple(cells))
    names = tuple(measure_name(name) for name in experiment.metrics)
    return Table("", ("case", "model", "draws", *names), tuple(lines))


def ceiling_table(experiment: Experiment, rows: pd.DataFrame) -> Table:
    """Return one line per case and encoding, with the accuracy that was printed."""
    printed = read_printed(experiment.printed).set_index("case")["accuracy"]
    lines = []
    for row in rows.to_dict("records"):
        cells = [Cell(case_name(row["case"])), Cell(columns_name(row["encoding"]))]
        cells += [Cell(_figure(row, name)) for name in experiment.metrics]
        lines.append((*cells, Cell(f"{printed[row['case']]:.2f}", style="printed")))
    names = tuple(measure_name(name) for name in experiment.metrics)
    return Table("", ("case", "made of", *names, "printed"), tuple(lines))


def tradeoff_table(experiment: Experiment, rows: pd.DataFrame) -> Table:
    """Return one line per case and method, means over the trials of what was chosen."""
    lines = []
    chosen = rows[rows["axis"] == ""]
    for (case, method), part in chosen.groupby(["case", "method"], sort=False):
        known = part.dropna(axis=1, how="all")
        cells = [Cell(case_name(str(case))), Cell(str(method))]
        cells += [
            Cell(with_error(known[name]) if name in known else "–") for name in experiment.metrics
        ]
        lines.append(tuple(cells))
    names = tuple(measure_name(name) for name in experiment.metrics)
    return Table("", ("case", "method", *names), tuple(lines))


def _figure(row: Mapping[Any, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, int | float):
        return "–"
    return f"{int(value):,}" if name in _COUNTS else f"{value:.4f}"
