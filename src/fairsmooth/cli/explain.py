"""``fairsmooth explain``: why rows were decided as they were, and what would change it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairsmooth.cli.options import Data, Decimal, Encoding, Json, Model, Separator, Unknown

if TYPE_CHECKING:
    from fairsmooth.tables.explaining import DecisionExplanation

NAME = "explain"
# More than anybody reads; rows can be named.
MOST_ROWS = 20


def command(
    model: Model,
    data: Data,
    row: Annotated[
        list[int] | None, typer.Option("--row", help="Row to explain, from 1; repeatable.")
    ] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", help="Table whose mean row to compare with.")
    ] = None,
    unknown: Unknown = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    json_output: Json = False,
) -> None:
    """Explain decisions: what each column adds to the score, and what would change them."""
    from fairsmooth.cli.output import print_json, print_notes, results
    from fairsmooth.cli.reading import guesses
    from fairsmooth.data.files import read_table
    from fairsmooth.tables import TableModel

    loaded = TableModel.load(model)
    options = {"sep": sep, "decimal": decimal, "encoding": encoding}
    notes = list(guesses(data, **options))
    table = read_table(data, text=loaded.text_columns, **options)
    if row is None and len(table) > MOST_ROWS:
        notes.append(
            f"Explained are the first {MOST_ROWS} of {len(table):,} rows; choose by --row."
        )
    rows = row or list(range(1, min(len(table), MOST_ROWS) + 1))
    against = None if reference is None else read_table(reference, text=loaded.text_columns)
    found = loaded.explain(table, rows=rows, reference=against, unknown=unknown)
    print_notes(notes)
    if json_output:
        print_json({"rows": [explanation.to_dict() for explanation in found]})
        return
    for number, explanation in enumerate(found):
        if number:
            results.print()
        _print(explanation)


def _print(found: "DecisionExplanation") -> None:
    from rich.table import Table
    from rich.text import Text

    from fairsmooth.cli.output import print_lines, results
    from fairsmooth.core.outward import lower_text, upper_text
    from fairsmooth.data.values import normal_text
    from fairsmooth.exceptions import InputError

    side = "above" if found.positive else "not above"
    results.print(Text(f"Row {found.row}: {found.decision}", style="bold"))
    print_lines([f"Score {found.score:.4f}, {side} the threshold {found.threshold:g}."])
    table = Table(title="What each column adds", title_justify="left")
    table.add_column("column")
    table.add_column("value")
    table.add_column("adds", justify="right")
    table.add_row(Text(f"({found.reference})"), "", f"{found.reference_score:+.4f}")
    for name, part in sorted(found.contributions.items(), key=lambda item: -abs(item[1])):
        shown = normal_text(found.values.get(name))
        table.add_row(Text(name), Text("–" if shown is None else shown), f"{part:+.4f}")
    results.print(table)
    lines = []
    for group, (low, high) in found.intervals.items():
        proved = "decides alike, proved" if found.agrees[group] else "may decide otherwise"
        whose = "the row's own group" if group == found.group else "group"
        lines.append(
            f"{whose} {group}: own score in [{lower_text(low)}, {upper_text(high)}], {proved}."
        )
    lines += [f"The decision would be the other one with {change}." for change in found.changes]
    if found.not_searched:
        lines.append(f"Other values were not tried of: {', '.join(found.not_searched)}.")
    elif not found.changes:
        lines.append("No change of a single column changes the decision.")
    try:
        reasons = found.reasons
        lines += ["Reasons for the decision:"] if reasons else []
        lines += [f"  {place}. {reason}." for place, reason in enumerate(reasons, start=1)]
    except InputError as error:
        lines.append(str(error))
    print_lines(lines)
