"""``fairsmooth predict``: scores, decisions and certified intervals, row by row."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairsmooth.cli.options import Data, Decimal, Encoding, Model, Separator, Strict, Unknown

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.tables import TableModel

NAME = "predict"


def command(
    model: Model,
    data: Data,
    output: Annotated[Path, typer.Option("-o", "--output", help="Table to write.")],
    keep: Annotated[
        list[str] | None, typer.Option("--keep", help="Column to carry along; repeatable.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Decide positive above this score.")
    ] = None,
    unknown: Unknown = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    strict: Strict = False,
) -> None:
    """Predict every row of a table; the sensitive columns are not needed.

    A row that cannot be scored gets an empty score, and a column "reason" says why. Of a folder
    of Parquet files into a folder: one file each, whole or not at all; those that are there stay.
    """
    from fairsmooth.cli.output import print_notes, progress, say
    from fairsmooth.cli.reading import guesses
    from fairsmooth.cli.targets import require_target

    options: dict[str, Any] = {
        "keep": keep or (), "threshold": threshold, "unknown": unknown, "strict": strict,
    }  # fmt: skip
    if data.is_dir() and (output.is_dir() or not output.suffix):
        _predict_folder(model, data, output, options)
        return
    require_target(output, inputs=[data, model])
    from fairsmooth.data.files import count_rows, write_chunks
    from fairsmooth.data.files.writing import output_kind
    from fairsmooth.tables import TableModel

    output_kind(output)
    loaded = TableModel.load(model)
    reading = {"sep": sep, "decimal": decimal, "encoding": encoding}
    notes = guesses(data, **reading)
    work = _Work(loaded, data, reading, options)
    with progress("counting") as update:
        total = count_rows(data, **reading)
        update(total=total, description="predicting")
        try:
            rows = write_chunks(output, work.chunks(update, with_reasons=False))
        except _Reasons:
            # Only now is it known that the table has a column more; begin again with it.
            update(completed=0)
            rows = write_chunks(output, work.chunks(update, with_reasons=True))
    print_notes(notes)
    say(f"Wrote {rows:,} of {total:,} rows to {output}.")
    if work.n_unscored:
        say(f"{work.n_unscored:,} of them could not be scored; the column 'reason' says why.")


def _predict_folder(model: Path, data: Path, output: Path, options: dict[str, Any]) -> None:
    """Predict a folder part by part."""
    from fairsmooth.cli.output import print_notes, progress, say
    from fairsmooth.cli.reading import guesses
    from fairsmooth.cli.targets import require_folder
    from fairsmooth.tables.predicting import parts_of, predict_part

    notes = guesses(data)
    parts, total = parts_of(model, data, output, options)
    names = [str(part.output.relative_to(output)) for part in parts]
    require_folder(output, names, inputs=[data, model])
    rows = unscored = kept = 0
    with progress("predicting", total=total) as update:
        for part in parts:
            made = predict_part(part, done=lambda count: update(advance=count))
            rows, unscored, kept = rows + made.rows, unscored + made.unscored, kept + made.kept
    print_notes(notes)
    before = f", {kept} of them made before" if kept else ""
    say(f"Wrote {rows:,} of {total:,} rows to {output} in {len(parts)} files{before}.")
    if unscored:
        say(f"{unscored:,} of them could not be scored; the column 'reason' says why.")


class _Reasons(Exception):
    """A row cannot be scored, so the output needs a column for the reason."""


class _Work:
    """A model, a table in a file, and how many rows could not be scored."""

    def __init__(
        self, model: "TableModel", data: Path, reading: dict[str, Any], options: dict[str, Any]
    ) -> None:
        self.model, self.data, self.reading, self.options = model, data, reading, options
        self.n_unscored = 0

    def chunks(self, update: Any, *, with_reasons: bool) -> "Iterator[pd.DataFrame]":
        from fairsmooth.data.files import read_chunks
        from fairsmooth.tables.scoring import REASON, with_reason_column

        first_row = 0
        text = self.model.text_columns
        for chunk in read_chunks(self.data, text=text, **self.reading):
            scored = self.model.predict(chunk, first_row=first_row, **self.options)
            if REASON in scored and not with_reasons:
                raise _Reasons
            self.n_unscored += int(scored["probability"].isna().sum())
            yield with_reason_column(scored) if with_reasons else scored
            first_row += len(chunk)
            update(completed=first_row)
