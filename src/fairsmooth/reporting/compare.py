"""Ours beside what was printed, with what the trials can tell."""

import math
from collections.abc import Sequence

import pandas as pd

from fairsmooth.datasets import entry
from fairsmooth.experiments import (
    ENCODINGS,
    HOLDS,
    PUBLISHED,
    TUNED,
    Experiment,
    estimate,
    in_order,
    label_of,
    margin_of,
    printed_rounding,
    read_printed,
    sign_of,
    standard_error,
)
from fairsmooth.reporting.tables import Cell, Table

METRICS = {
    "accuracy": "accuracy",
    "demographic_parity": "ΔDP",
    "equalized_odds_sum": "ΔEO",
    "mean_distance": "mean distance",
    "max_distance": "largest distance",
    "epsilon": "certificate",
    "epsilon_tight": "tight",
    "measured_gap": "measured",
    "fair_ceiling": "ceiling at printed gaps",
    "told_ceiling": "ceiling, told the group",
    "told_fair_ceiling": "ceiling at printed gaps, told the group",
    "largest_error": "largest error",
    "mean_error": "mean error",
    "decisions_changed": "decisions changed",
    "draw_seconds": "seconds",
    "slowdown": "times exact",
}
PRINTED = "printed"
TRACKS = {
    PUBLISHED: ", every method as published: its authors' algorithm and constants",
    TUNED: ", every method tuned: the best of equally many candidates",
}
_MARKS = {
    "": "",
    "≈": "within a hundredth of one of our means, rounding granted",
    "≠": "outside all of our intervals",
}


def comparison_tables(experiment: Experiment, rows: pd.DataFrame) -> list[Table]:
    """Return a table per case and track: methods down, every measure printed and by encoding.

    Ours are means over the trials ± standard error. Bold: better than every other
    method of the column by an interval that excludes a tie; of the printed ones,
    the best. ``≈`` marks a printed number within the margin of a mean of ours, ``≠`` one that no
    encoding's interval contains; what has no mark cannot be told.
    """
    printed = read_printed(experiment.printed)
    # Datasets that were asked for by name come after the paper's.
    cases = dict.fromkeys([*experiment.cases, *rows["case"]])
    return [
        _case_table(experiment, case, track, rows[rows["track"] == track], printed)
        for case in cases
        for track in experiment.tracks
    ]


def case_name(case: str) -> str:
    """Return a case as one reads it.

    Examples
    --------
    >>> case_name("compas-race")
    'COMPAS, race'
    """
    dataset, sensitive = case.split("-", 1)
    return f"{entry(dataset).title}, {sensitive}"


def metric_name(metric: str) -> str:
    """Return a measure as one reads it."""
    return METRICS.get(metric, metric.replace("_", " "))


def _case_table(
    experiment: Experiment, case: str, track: str, rows: pd.DataFrame, printed: pd.DataFrame
) -> Table:
    ours, theirs = rows[rows["case"] == case], printed[printed["case"] == case]
    methods = in_order([*ours["method"], *theirs["method"]])
    columns: list[list[Cell]] = [[Cell(label_of(name)) for name in methods]]
    for metric in experiment.metrics:
        # No printed column where the paper has no such number.
        if metric in theirs and theirs[metric].notna().any():
            columns.append(_printed_column(theirs, ours, metric, methods))
        columns += [_our_column(ours, encoding, metric, methods) for encoding in ENCODINGS]
    return Table(
        title=case_name(case) + (TRACKS[track] if len(experiment.tracks) > 1 else ""),
        columns=("method", *_sub_columns(experiment, theirs)),
        rows=tuple(zip(*columns, strict=True)),
        groups=(("", 1), *_groups(experiment, theirs)),
    )


def _sub_columns(experiment: Experiment, printed: pd.DataFrame) -> list[str]:
    names: list[str] = []
    for metric in experiment.metrics:
        has = metric in printed and printed[metric].notna().any()
        names += [*([PRINTED] if has else []), *ENCODINGS]
    return names


def _groups(experiment: Experiment, printed: pd.DataFrame) -> list[tuple[str, int]]:
    return [
        (
            metric_name(metric),
            len(ENCODINGS) + int(metric in printed and bool(printed[metric].notna().any())),
        )
        for metric in experiment.metrics
    ]


def _our_column(
    rows: pd.DataFrame, encoding: str, metric: str, methods: Sequence[str]
) -> list[Cell]:
    chosen = rows[rows["encoding"] == encoding]
    table = _by_trial(chosen, metric)
    best = _supported_best(table, metric)
    failures = chosen.loc[chosen["status"] != "done", ["method", "reason"]]
    reasons = dict(zip(failures["method"], failures["reason"], strict=True))
    return [_our_cell(table, name, name == best, reasons.get(name, "")) for name in methods]


def _our_cell(table: pd.DataFrame, method: str, best: bool, reason: str) -> Cell:
    if method not in table:
        return Cell("failed", style="failed", title=reason) if reason else Cell("–")
    return Cell(with_error(table[method]), bold=best, title=reason)


def with_error(values: "pd.Series[float]") -> str:
    """Return a mean ± standard error, with the digits that the size asks for."""
    mean, error = float(values.mean()), standard_error(values)
    digits = 4 if abs(mean) < 0.02 else 3
    text = f"{mean:.{digits}f}" if abs(mean) < 100 else f"{mean:,.0f}"
    return text if math.isnan(error) else f"{text} ± {error:.{digits}f}"


def _supported_best(table: pd.DataFrame, metric: str) -> str | None:
    """Return the method that is better than every other beyond doubt, or None."""
    sign = sign_of(metric)
    if table.shape[1] < 2:
        return None
    best = str((sign * table.mean()).idxmax())
    gains = [sign * (table[best] - table[name]) for name in table if name != best]
    supported = all(estimate(gain).compared(strictly=True) == HOLDS for gain in gains)
    return best if supported else None


def _printed_column(
    printed: pd.DataFrame, rows: pd.DataFrame, metric: str, methods: Sequence[str]
) -> list[Cell]:
    values = dict(zip(printed["method"], printed[metric], strict=True))
    sign = sign_of(metric)
    best = max(sign * value for value in values.values())
    return [
        _printed_cell(values[name], sign * values[name] == best, _mark(rows, metric, name, values))
        if name in values
        else Cell("", style=PRINTED)
        for name in methods
    ]


def _printed_cell(value: float, best: bool, mark: str) -> Cell:
    text = f"{value:.4f}" if value < 0.02 and value != round(value, 2) else f"{value:.2f}"
    return Cell(f"{text} {mark}".strip(), bold=best, style=PRINTED, title=_MARKS[mark])


def _mark(rows: pd.DataFrame, metric: str, method: str, printed: dict[str, float]) -> str:
    """Say whether a printed number agrees with a mean of ours, or with none of our intervals."""
    rounding = printed_rounding(metric)
    near, off = [], []
    for encoding in ENCODINGS:
        table = _by_trial(rows[rows["encoding"] == encoding], metric)
        if method in table:
            ours = estimate(table[method])
            away = abs(ours.value - printed[method])
            near.append(away <= margin_of(metric) + rounding)
            off.append(away > ours.half_width + rounding)
    if any(near):
        return "≈"
    return "≠" if off and all(off) else ""


def _by_trial(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    if metric not in rows:
        return pd.DataFrame()
    known = rows[rows[metric].notna()]
    return known.pivot(index="trial", columns="method", values=metric)
