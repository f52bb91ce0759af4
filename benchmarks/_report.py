"""What every benchmark shares: arguments, timing, peak memory, goals, table or JSON."""

import argparse
import json
import os
import platform
import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy
import torch
from rich.console import Console
from rich.table import Table

Row = dict[str, Any]


@dataclass(frozen=True)
class Goal:
    """A number with the value it should reach."""

    name: str
    value: float
    goal: float
    direction: str

    @property
    def holds(self) -> bool:
        """Tell whether the value is on the right side of the goal."""
        return self.value >= self.goal if self.direction == ">=" else self.value <= self.goal


def at_least(name: str, value: float, goal: float) -> Goal:
    return Goal(name, float(value), float(goal), ">=")


def at_most(name: str, value: float, goal: float) -> Goal:
    return Goal(name, float(value), float(goal), "<=")


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options all benchmarks have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.add_argument("--quick", action="store_true", help="finish within a minute")
    return parser


def fastest(action: Callable[[], Any], *, repeats: int) -> float:
    """Return the least seconds of several runs: other work on the machine only adds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peak_memory() -> float:
    """Return the largest resident memory of this process so far, in MiB.

    Where Linux tells it, of this program alone: what ``getrusage`` gives begins with the memory
    of the program that started this one.
    """
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    if found is not None:
        return int(found[1]) / 1024.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024.0**2 if sys.platform == "darwin" else 1024.0)


def machine() -> Row:
    """Describe what the numbers were measured on."""
    return {
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "processor": platform.processor() or platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
    }


def report(goals: Sequence[Goal], rows: Sequence[Row], *, as_json: bool) -> None:
    """Print goals and rows, as one JSON object or as tables."""
    if as_json:
        plain = [asdict(goal) | {"holds": goal.holds} for goal in goals]
        document = {"goals": plain, "rows": list(rows), "machine": machine()}
        # NumPy's numbers are not JSON's; a long run must not end on that.
        print(json.dumps(document, default=lambda number: number.item()))
        return
    console = Console()
    console.print(_goal_table(goals))
    for table in _row_tables(rows):
        console.print(table)
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()))


def _goal_table(goals: Sequence[Goal]) -> Table:
    table = Table("goal", "value", "wanted", "holds")
    for goal in goals:
        wanted = f"{goal.direction} {goal.goal:g}"
        table.add_row(goal.name, f"{goal.value:.4g}", wanted, "yes" if goal.holds else "NO")
    return table


def _row_tables(rows: Sequence[Row]) -> list[Table]:
    """Return one table per run of rows with the same columns."""
    tables: list[Table] = []
    columns: tuple[str, ...] = ()
    for row in rows:
        if tuple(row) != columns:
            columns = tuple(row)
            tables.append(Table(*columns))
        tables[-1].add_row(*(_cell(value) for value in row.values()))
    return tables


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
