"""Tables of the trade-off: accuracy within limits on both gaps."""

from typing import Any

from filling.markdown import MEASURES, Blocks, goals_of, results, table, triple, with_error

SETTINGS = ("adult sex", "adult race", "compas sex", "compas race")
_KNOWN = (
    "FairSmooth, decisions",
    "ExponentiatedGradient, swept",
    "LogisticRegression",
    "Gradient boosting",
    "ceiling, any rule of the forecasts",
)


def tradeoff_short() -> str:
    """Return accuracy / ΔDP / ΔEO of what a reader knows, group-blind, and of the best there is."""
    rows = [row for row in _tradeoff() if row["method"] in _KNOWN]
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    cells = {(row["method"], row["setting"]): row for row in rows}
    lines = [
        [method, *(triple(cells[method, setting]) for setting in settings)]
        for method in dict.fromkeys(row["method"] for row in rows)
    ]
    return table(["accuracy / ΔDP / ΔEO", *settings], lines)


def tradeoff_full() -> str:
    """Return one line per setting and method, with standard errors and certificate."""
    inner = ("inner_demographic_parity", "inner_equalized_odds_sum")
    names = (*MEASURES, *inner, "within", "epsilon", "free_distance", "free_epsilon")
    lines = [
        [row["setting"], row["method"], *(with_error(row, name) for name in names)]
        for row in sorted(_tradeoff(), key=lambda row: SETTINGS.index(row["setting"]))
    ]
    header = ["setting", "method", "accuracy", "ΔDP", "ΔEO", "expected ΔDP", "expected ΔEO"]
    return table([*header, "within", "ε", "to the free", "that is, in scores"], lines)


def tradeoff_goals() -> str:
    """Return every goal with what was reached."""
    return goals_of("tradeoff")


def tradeoff_first() -> str:
    """Return the same of the run that was published before."""
    return goals_of("tradeoff_first")


def _tradeoff() -> list[dict[str, Any]]:
    """Return what was chosen, and the ceilings; rows with an axis are for the picture."""
    rows: list[dict[str, Any]] = results("tradeoff")["rows"]
    return [row for row in rows if "method" in row and "axis" not in row]


BLOCKS: Blocks = {
    "tradeoff-short": tradeoff_short,
    "tradeoff-full": tradeoff_full,
    "tradeoff-goals": tradeoff_goals,
    "tradeoff-first": tradeoff_first,
}
