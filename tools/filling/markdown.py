"""Results as they were written, and tables of Markdown."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
MEASURES = ("accuracy", "demographic_parity", "equalized_odds_sum")

Blocks = dict[str, Callable[[], str]]


def results(name: str) -> dict[str, Any]:
    """Return what a benchmark wrote."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def goals_of(name: str) -> str:
    """Return every goal of a benchmark with what was reached."""
    lines = [
        [
            goal["name"],
            f"{goal['direction']} {goal['goal']}",
            f"{goal['value']}",
            "yes" if goal["holds"] else "no",
        ]
        for goal in results(name)["goals"]
    ]
    return table(["goal", "limit", "reached", "met"], lines)


def triple(row: dict[str, Any]) -> str:
    """Return accuracy / ΔDP / ΔEO."""
    return " / ".join(short(row[name]) for name in MEASURES if name in row)


def short(value: float) -> str:
    """Return three digits after the point, and none before it if it is 0."""
    return f"{value:.3f}".removeprefix("0")


def with_error(row: dict[str, Any], name: str) -> str:
    """Return a mean ± standard error."""
    value, error = row.get(name), row.get(f"{name}_se")
    if value is None:
        return "–"
    return short(value) if error is None else f"{short(value)} ± {short(error)}"


def table(header: list[str], lines: list[list[str]]) -> str:
    """Return a table of Markdown."""
    return "\n".join(
        "| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *lines]
    )
