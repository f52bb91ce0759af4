"""One line per reading of the paper: how near it comes to the printed rows, nearest first."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fairsmooth.experiments import MAIN_METRICS, Experiment, read_printed
from fairsmooth.experiments.beyond.readings import CONTROL
from fairsmooth.experiments.claims.readings import KINDS
from fairsmooth.reporting.reproduction_words import case_name, columns_name
from fairsmooth.reporting.tables import Cell, Table


@dataclass(frozen=True)
class Reading:
    """One way to read the paper, at the pair of σ and α that is nearest in each case.

    Attributes
    ----------
    columns, schedule, kind : str
        Which columns, how it was trained, and of what the gaps are, in words.
    figures : mapping of str to Series
        Accuracy and gaps by case.
    deviations : mapping of str to float
        Mean absolute difference to the printed row, by case.
    with_one_pair : float
        The least mean deviation if one pair serves all cases.
    """

    columns: str
    schedule: str
    kind: str
    figures: dict[str, Any]
    deviations: dict[str, float]
    with_one_pair: float

    @property
    def deviation(self) -> float:
        """The mean over the cases."""
        return sum(self.deviations.values()) / len(self.deviations)


def readings_table(experiment: Experiment, rows: pd.DataFrame) -> Table:
    """Return a line per columns, schedule and kind of gap; accuracy / ΔDP / ΔEO and deviation."""
    printed = _printed(experiment)
    names = tuple(case_name(case) for case in experiment.cases)
    first = [Cell(_triple(printed.xs(case))) for case in experiment.cases]
    lines = [(Cell("printed", style="printed"), Cell(""), Cell(""), *first, Cell(""), Cell(""))]
    lines += [_line(reading) for reading in readings_of(experiment, rows)]
    columns = ("columns", "schedule", "gaps of", *names, "mean deviation", "with one pair")
    return Table("", columns, tuple(lines))


def nearest_reading(experiment: Experiment, rows: pd.DataFrame) -> str | None:
    """Say which reading of FairSmooth comes nearest and by how much; None if none is complete."""
    found = [each for each in readings_of(experiment, rows) if each.schedule != CONTROL]
    if not found:
        return None
    nearest = found[0]
    furthest = max(nearest.deviations, key=lambda case: nearest.deviations[case])
    return (
        f"of {len(found)} readings that were run the nearest, with {nearest.columns}, "
        f"{nearest.schedule} and gaps of {nearest.kind}, misses the printed figures by "
        f"{nearest.deviation:.3f} on average, and by {nearest.deviations[furthest]:.3f} on "
        f"{case_name(furthest)}"
    )


def readings_of(experiment: Experiment, rows: pd.DataFrame) -> list[Reading]:
    """Return every reading that has run in all cases, the nearest first."""
    return sorted(_readings(experiment, rows), key=lambda reading: reading.deviation)


def _readings(experiment: Experiment, rows: pd.DataFrame) -> Iterator[Reading]:
    printed = _printed(experiment)
    done = rows[rows["status"] == "done"]
    for (columns, schedule), part in done.groupby(["encoding", "method"], sort=False):
        for kind, prefix in KINDS.items():
            names = [MAIN_METRICS[0], *(f"{prefix}{name}" for name in MAIN_METRICS[1:])]
            means = part.fillna({"value": -1.0}).groupby(["case", "value"])[names].mean()
            means.columns = list(MAIN_METRICS)
            if set(experiment.cases) <= set(means.index.get_level_values("case")):
                place = (columns_name(str(columns)), str(schedule), kind)
                yield _nearest(experiment, means, printed, place)


def _nearest(
    experiment: Experiment,
    means: pd.DataFrame,
    printed: pd.DataFrame,
    place: tuple[str, str, str],
) -> Reading:
    away = pd.DataFrame(
        {case: (means.xs(case) - printed.xs(case)).abs().T.mean() for case in experiment.cases}
    )
    pairs = {case: away[case].idxmin() for case in experiment.cases}
    return Reading(
        *place,
        figures={case: means.xs((case, pair)) for case, pair in pairs.items()},
        deviations={case: float(away[case].min()) for case in experiment.cases},
        with_one_pair=float(away.mean(axis=1).min()),
    )


def _line(reading: Reading) -> tuple[Cell, ...]:
    cells = [
        Cell(_triple(figures), title=f"deviation {reading.deviations[case]:.3f}")
        for case, figures in reading.figures.items()
    ]
    ends = [Cell(f"{value:.3f}") for value in (reading.deviation, reading.with_one_pair)]
    return (Cell(reading.columns), Cell(reading.schedule), Cell(reading.kind), *cells, *ends)


def _printed(experiment: Experiment) -> pd.DataFrame:
    return read_printed(experiment.printed).set_index("case")[list(MAIN_METRICS)]


def _triple(row: Any) -> str:
    return " / ".join(f"{row[name]:.3f}".removeprefix("0") for name in MAIN_METRICS)
