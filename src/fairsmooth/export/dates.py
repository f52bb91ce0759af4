"""Year, month and weekday of moments, in whole numbers.

The calendar is Gregorian throughout, counted in eras of 400 years, each year beginning in
March, so that the leap day is the last (Hinnant, "chrono-compatible low-level date algorithms").
"""

import numpy as np

from fairsmooth.export.graph import Graph

MISSING_DATE = np.iinfo(np.int64).min
# What is not a date: no calendar reaches this far.
WRONG_DATE = np.iinfo(np.int64).max
_DAY = 86_400_000_000


def add_date_parts(graph: Graph, names: list[str]) -> list[str]:
    """Add year, month and weekday of the columns: missing is NaN, wrong is infinite."""
    constants = {
        "day": _DAY, "era": 146_097, "to_march": 719_468, "weekday_start": 3, "week": 7,
        "four_years": 1_460, "century": 36_524, "era_end": 146_096, "year_days": 365,
        "four": 4, "hundred": 100, "era_years": 400, "five": 5, "two": 2, "months_days": 153,
        "ten": 10, "three": 3, "twelve": 12, "missing_date": MISSING_DATE, "wrong_date": WRONG_DATE,
        "epoch": 0,
    }  # fmt: skip
    for name, value in constants.items():
        graph.constant(name, value, np.int64)
    graph.constant("not_a_number", np.nan)
    graph.constant("infinity", np.inf)
    graph.node("given_dates", "Concat", names, axis=1)
    graph.node("is_no_date", "Equal", ["given_dates", "missing_date"])
    graph.node("is_wrong_date", "Equal", ["given_dates", "wrong_date"])
    graph.node("is_void_date", "Or", ["is_no_date", "is_wrong_date"])
    graph.node("moments", "Where", ["is_void_date", "epoch", "given_dates"])
    days = _floor(graph, "days", "moments", "day")
    _add_weekday(graph, days)
    _add_year_and_month(graph, days)
    return [_as_number(graph, part) for part in ("year", "month", "weekday")]


def _floor(graph: Graph, name: str, dividend: str, divisor: str) -> str:
    """Divide and round down; the runtime rounds towards 0."""
    graph.node(f"{name}_rest", "Mod", [dividend, divisor])
    graph.node(f"{name}_even", "Sub", [dividend, f"{name}_rest"])
    return graph.node(name, "Div", [f"{name}_even", divisor])


def _add_weekday(graph: Graph, days: str) -> None:
    # The first of January 1970 was a Thursday, 3 if Monday is 0.
    graph.node("days_from_monday", "Add", [days, "weekday_start"])
    graph.node("weekday", "Mod", ["days_from_monday", "week"])


def _add_year_and_month(graph: Graph, days: str) -> None:
    graph.node("days_from_march", "Add", [days, "to_march"])
    _floor(graph, "eras", "days_from_march", "era")
    graph.node("day_of_era", "Mod", ["days_from_march", "era"])
    for name, divisor in (("four_year", "four_years"), ("centuries", "century"),
                          ("last_day", "era_end")):  # fmt: skip
        graph.node(f"{name}_count", "Div", ["day_of_era", divisor])
    graph.node("days_less", "Sub", ["day_of_era", "four_year_count"])
    graph.node("days_more", "Add", ["days_less", "centuries_count"])
    graph.node("days_of_years", "Sub", ["days_more", "last_day_count"])
    graph.node("year_of_era", "Div", ["days_of_years", "year_days"])
    graph.node("years_days", "Mul", ["year_of_era", "year_days"])
    graph.node("leap_days", "Div", ["year_of_era", "four"])
    graph.node("no_leap_days", "Div", ["year_of_era", "hundred"])
    graph.node("days_before_leaps", "Add", ["years_days", "leap_days"])
    graph.node("days_before", "Sub", ["days_before_leaps", "no_leap_days"])
    graph.node("day_of_year", "Sub", ["day_of_era", "days_before"])
    graph.node("fifths", "Mul", ["day_of_year", "five"])
    graph.node("fifths_more", "Add", ["fifths", "two"])
    graph.node("month_from_march", "Div", ["fifths_more", "months_days"])
    graph.node("is_new_year", "GreaterOrEqual", ["month_from_march", "ten"])
    graph.node("new_year", "Cast", ["is_new_year"], to=graph.onnx.TensorProto.INT64)
    graph.node("twelve_or_none", "Mul", ["new_year", "twelve"])
    graph.node("month_after_march", "Add", ["month_from_march", "three"])
    graph.node("month", "Sub", ["month_after_march", "twelve_or_none"])
    graph.node("era_years_before", "Mul", ["eras", "era_years"])
    graph.node("year_from_march", "Add", ["year_of_era", "era_years_before"])
    graph.node("year", "Add", ["year_from_march", "new_year"])


def _as_number(graph: Graph, part: str) -> str:
    graph.node(f"{part}_number", "Cast", [part], to=graph.onnx.TensorProto.DOUBLE)
    graph.node(f"{part}_or_missing", "Where", ["is_no_date", "not_a_number", f"{part}_number"])
    return graph.node(
        f"{part}_column", "Where", ["is_wrong_date", "infinity", f"{part}_or_missing"]
    )
