"""What the commands print: results on standard output, everything else on standard error."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from fairsmooth.cli.advice import for_the_command_line
from fairsmooth.core.labels import group_text

if TYPE_CHECKING:
    from fairsmooth.core.certificate import Certificate
    from fairsmooth.metrics import Statement

# Tables of figures need some width; a narrow window wraps lines rather than cutting numbers.
results = Console(highlight=False, soft_wrap=True, width=max(110, Console().width))
messages = Console(stderr=True, highlight=False)
# Characters of a JSON document that is printed entry by entry.
_LONG = 200_000


def print_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document and nothing else.

    A long one, as of hundreds of groups, has one line for each entry of a list, since indenting
    it takes Python longer than all the rest of an audit.
    """
    dumps = partial(json.dumps, ensure_ascii=False, allow_nan=False)
    lines = []
    for name, value in document.items():
        entries = ",\n    ".join(map(dumps, value)) if isinstance(value, list) else ""
        lines.append(f"  {dumps(name)}: {f'[{entries}]' if entries else dumps(value)}")
    if sum(map(len, lines)) > _LONG:
        print("{\n" + ",\n".join(lines) + "\n}")
    else:
        print(dumps(document, indent=2))


def say(text: str) -> None:
    """Tell the user one line, on standard error."""
    messages.print(text, markup=False, soft_wrap=True)


@contextmanager
def progress(description: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show progress on standard error while a block runs, as x of y where y is known.

    Yields a function that takes what :meth:`rich.progress.Progress.update` takes.
    """
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    # In a log file a bar would be nothing but an empty line.
    hidden = not messages.is_terminal
    with Progress(*columns, console=messages, transient=True, disable=hidden) as bar:
        task = bar.add_task(description, total=total)
        yield partial(bar.update, task)


def printable(value: Any) -> Any:
    r"""Return plain data with every text as a terminal may be given it, without control characters.

    Labels in a file are whatever its writer chose: a line break in one would print a line of its
    own, and escape codes would take away lines that were printed before.

    Examples
    --------
    >>> printable({"groups": ["a\nb", ("c", 1)]})
    {'groups': ['a\\nb', ['c', 1]]}
    """
    if isinstance(value, str):
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value)
    if isinstance(value, Mapping):
        return {key: printable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [printable(entry) for entry in value]
    return value


def print_certificate(certificate: "Certificate") -> None:
    """Explain a certificate in plain words."""
    shown = type(certificate).from_dict(printable(certificate.to_dict()))
    title, *lines = str(shown).splitlines()
    results.print(Text(title, style="bold"))
    print_lines(lines)


def print_lines(lines: Iterable[str]) -> None:
    """Print results as they are, but for control characters of labels in them."""
    for line in lines:
        results.print("\n".join(map(printable, line.split("\n"))), markup=False)


def print_notes(notes: Sequence[str]) -> None:
    """Print what was noticed, one line each, on standard error."""
    for note in notes:
        say(f"Note: {for_the_command_line(note)}")


def print_summary(summary: Mapping[str, Any], *, more: bool = False) -> None:
    """Print the figures of an audit, then one row per group; with ``more``, a second such table."""
    overall = Table(title="Audit", title_justify="left")
    overall.add_column("measure")
    overall.add_column("value", justify="right")
    for name, label in _OVERALL.items():
        if summary.get(name) is not None:
            overall.add_row(label, cell(name, summary[name]))
    results.print(overall)
    _print_groups("By group", _BY_GROUP, summary["groups"])
    if more:
        _print_groups("By group: ratios, labels and scores", _MORE_BY_GROUP, summary["groups"])


def _print_groups(title: str, names: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> None:
    table = Table(title=title, title_justify="left")
    columns = [name for name in names if any(name in row for row in rows)]
    table.add_column("group")
    for name in columns:
        table.add_column(names[name], justify="right")
    for row in rows:
        cells = (cell(name, row.get(name)) for name in columns)
        table.add_row(Text(group_text(_label(row["group"]))), *cells)
    results.print(table)


def print_statements(statements: Sequence["Statement"]) -> None:
    """Print what is certified, then what was only measured."""
    certified = [statement.text for statement in statements if statement.certified]
    measured = [statement.text for statement in statements if not statement.certified]
    for title, sentences in (("Certified", certified), ("Not certified", measured)):
        if sentences:
            results.print(Text(title, style="bold"))
        print_lines(f"  {sentence}" for sentence in sentences)


_OVERALL = {
    "accuracy": "accuracy",
    "demographic_parity": "demographic parity gap",
    "equalized_odds_sum": "equalized odds gap, sum",
    "equalized_odds_max": "equalized odds gap, maximum",
    "impact_ratio": "impact ratio (four-fifths rule: at least 0.8)",
    "measured_gap": "largest measured gap to a group's own classifier",
    "epsilon_tight": "certified bound on that gap (tight)",
    "epsilon": "certified bound on that gap (the paper's)",
    "max_distance": "largest distance between groups' parameters",
    "tying_cost": "largest loss a group gave up for the tie",
}
_BY_GROUP = {
    "count": "rows",
    "selection_rate": "selected",
    "true_positive_rate": "TPR",
    "false_positive_rate": "FPR",
    "accuracy": "accuracy",
    "epsilon_linf_all_rows": "measured gap",
    "epsilon": "certified",
    "tying_cost_log_loss": "tying cost",
}
_MORE_BY_GROUP = {
    "impact_ratio": "impact ratio",
    "impact_ratio_low": "from",
    "impact_ratio_high": "to",
    "base_rate": "base rate",
    "false_negative_rate": "FNR",
    "precision": "precision",
    "auc": "AUC",
    "calibration": "score - base rate",
    "expected_calibration_error": "ECE",
}
_BOUNDS = {"epsilon", "epsilon_tight", "max_distance"}


def _label(group: Any) -> Any:
    return tuple(group) if isinstance(group, list) else group


def cell(name: str, value: Any) -> str:
    """Return a figure as text; a bound is rounded up, so that what is printed is one too."""
    if value is None:
        return "–"
    if name in _BOUNDS:
        from fairsmooth.core.outward import upper_text

        return upper_text(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
