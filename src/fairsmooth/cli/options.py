"""Options that several commands have, and what they must be before any work begins."""

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from fairsmooth.exceptions import InputError

MAX_SEED = 2**32 - 1
# A layer of this width, or a network of this many weights, still fits into a small machine.
MAX_WIDTH = 16_384
MAX_WEIGHTS = 2**24
# Costs at most about two points of accuracy where 1 costs ten: benchmarks/defaults.py.
PARITY_WEIGHT = 0.25

Data = Annotated[
    Path, typer.Argument(help="A table: .csv, .tsv (also .gz, .zst), .parquet or .xlsx.")
]
Model = Annotated[Path, typer.Argument(help="A model file.")]
Label = Annotated[str, typer.Option("--label", help="Column to predict; two values.")]
Sensitive = Annotated[
    list[str],
    typer.Option(
        "--sensitive",
        help="Sensitive column; several make intersectional groups. "
        "age:4 cuts a column of numbers into 4 bands.",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option("--positive", help="The positive label; needed unless it is 1, yes or true."),
]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="Column not to use; repeatable.")]
Ids = Annotated[
    list[str] | None,
    typer.Option("--id", help="Column that names a row: not used, but carried along; repeatable."),
]
Columns = Annotated[
    str,
    typer.Option(
        "--columns",
        help="auto, binned, standardised, crossed (products too), forecasts or label-forecast.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", help="Address of a Dask scheduler whose workers do the jobs."),
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Processes that work on parts.")]
TestSize = Annotated[float, typer.Option("--test-size", help="Share of rows held out.")]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=MAX_SEED, help="Seeds the split and the training."),
]
Unknown = Annotated[
    str | None,
    typer.Option("--unknown", help="A category not seen in training: error, or ignore (zeros)."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse a table with a row that cannot be used.")
]
Separator = Annotated[
    str | None, typer.Option("--sep", help="Separator of a text file; sniffed if left out.")
]
Decimal = Annotated[
    str | None, typer.Option("--decimal", help="Decimal mark, . or , ; sniffed if left out.")
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of a text file; UTF-8 if left out.")
]
Hidden = Annotated[
    str, typer.Option("--hidden", help="Widths of hidden layers, such as 64 or 64,32.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def parse_widths(text: str) -> tuple[int, ...]:
    """Read widths of hidden layers, such as ``64,32``; nothing is a linear model."""
    try:
        widths = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise InputError(
            f"Expected --hidden to be whole numbers such as 64 or 64,32, got {shown!r}."
        ) from error
    if any(not 1 <= width <= MAX_WIDTH for width in widths):
        raise InputError(
            f"Expected --hidden between 1 and {MAX_WIDTH:,} units in every layer, got {text[:40]}."
        )
    n_weights = sum(a * b for a, b in pairwise(widths))
    if n_weights > MAX_WEIGHTS:
        raise InputError(
            f"Expected --hidden with at most {MAX_WEIGHTS:,} weights between its layers, got "
            f"{n_weights:,}. Use narrower layers."
        )
    return widths


def parse_threshold(text: str, *, guaranteed: bool = False) -> float | str:
    """Read a threshold: a number, or how to choose one."""
    if guaranteed and text != "0.5":
        raise InputError(
            f"Expected --threshold or a guarantee, got both (--threshold {text}): training to "
            "a guarantee chooses its own."
        )
    try:
        return float(text)
    except ValueError:
        return text


def parity_settings(parity: str | None, weight: float | None, limits: str | None) -> dict[str, Any]:
    """Return the classifier's settings: a term with a weight, or limits on decisions."""
    if limits is None:
        return {"parity": parity, "parity_weight": parity_weight_of(parity, weight)}
    if weight is not None:
        raise InputError("Expected --parity-weight or --parity-limits, got both.")
    try:
        selected, odds = (float(part) for part in limits.split(","))
    except ValueError as error:
        raise InputError(
            "Expected --parity-limits to be two numbers, of selection rates and of equalized "
            f"odds, such as 0.05,0.08, got {limits[:40]!r}."
        ) from error
    chosen = {"parity": parity or "both", "parity_solver": "decisions"}
    return {**chosen, "parity_tolerance": (selected, odds)}


def parity_weight_of(parity: str | None, weight: float | None) -> float:
    """Return the weight of the parity term: a small one where parity is asked for without one."""
    if parity is None:
        if weight is not None:
            raise InputError(
                f"Expected --parity with --parity-weight, got the weight {weight:g} alone. "
                "Say which gap it is for."
            )
        return 0.0
    if weight is None:
        return PARITY_WEIGHT
    if weight == 0:
        raise InputError("Expected --parity-weight > 0 with --parity, got 0, which does nothing.")
    return weight
