"""Plans of ``fairsmooth guarantee``: how many rows would do, with none of them tested."""

from pathlib import Path
from typing import TYPE_CHECKING

from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    from fairsmooth.guarantees import Limits
    from fairsmooth.guarantees.claims import Shift


def require_one_question(
    plan: bool, model: Path | None, expected: list[str | None], outputs: list[Path | None]
) -> None:
    """Refuse half a plan: a test in its place would spend the safety rows, unasked."""
    if expected != [None, None] and (not plan or model is not None):
        raise InputError(
            "Expected --rates and --shares with --plan and no table, got "
            + ("a table too. Leave out one of them." if plan else "no --plan. No row was tested.")
        )
    if plan and outputs != [None, None]:
        raise InputError(
            "Expected a guarantee to write, got --plan, which tests none. Leave out -o and "
            "--report; --json prints the plan."
        )


def needed_rows(name: str, rows: int | None) -> str:
    """Say how many rows would do."""
    words = name.replace("_", " ")
    if rows is None:
        return f"no number of rows would guarantee the limit on {words}"
    return f"about {rows:,} rows would guarantee the limit on {words} four times in five"


def planned(
    limits: "Limits", shift: "Shift | None", rates: str | None, shares: str | None
) -> dict[str, int | None]:
    """Plan from expected rates alone, before any row exists."""
    from fairsmooth.guarantees.enough_rows import rows_needed
    from fairsmooth.guarantees.quantities import QUANTITIES

    if rates is None:
        raise InputError("Expected --plan with a table, or with --rates such as .2,.17, got none.")
    expected = _numbers(rates, "--rates")
    given = _numbers(shares, "--shares") if shares else [1.0 / len(expected)] * len(expected)
    if len(given) != len(expected) or abs(sum(given) - 1.0) > 1e-6:
        raise InputError(f"Expected {len(expected)} --shares that add up to 1, got {shares}.")
    labelled = [n for n in limits.to_dict() if None not in QUANTITIES[n].labels]
    if labelled:
        raise InputError(
            "Expected a pilot table to plan a limit on error rates, got --rates alone. "
            "Give rows with labels, or plan selection rates only."
        )
    return {
        name: rows_needed(
            name, limit, rates=expected, shares=given, confidence=limits.confidence, shift=shift
        )
        for name, limit in limits.to_dict().items()
    }


def _numbers(text: str, option: str) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"Expected {option} as numbers such as .2,.17, got {text!r}.") from None
    if len(values) < 2 or not all(0.0 <= value <= 1.0 for value in values):
        raise InputError(f"Expected {option} of two groups or more in [0, 1], got {text!r}.")
    return values


def print_plan(plan: dict[str, int | None], json_output: bool) -> None:
    """Print a plan, one line per limit."""
    from fairsmooth.cli.output import print_json, print_lines

    if json_output:
        print_json({"rows_needed": plan})
        return
    print_lines(
        f"{needed_rows(name, rows).capitalize()}, all groups together, at the expected rates and "
        "shares."
        for name, rows in plan.items()
    )
