"""``fairsmooth predict``: scores, decisions and certified intervals, row by row."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairsmooth.cli.options import (
    Data,
    Decimal,
    Encoding,
    Jobs,
    Model,
    Scheduler,
    Separator,
    Strict,
    Unknown,
)

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.tables import TableModel

NAME = "predict"


def command(
    model: Model,
    data: Data,
    output: Annotated[Path, typer.Option("-o", "--output", help="Table to write, or folder.")],
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
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
) -> None:
    """Predict every row of a table; the sensitive columns are not needed.

    A row that cannot be scored gets an empty score, and a column "reason" says why. Of a folder
    of Parquet files, an output without an ending is a folder with one file for each of them:
    run again, it does what is missing.
    """
    from fairsmooth.cli.by_parts import predict_by_parts, wants_parts
    from fairsmooth.cli.output import print_notes, progress, say
    from fairsmooth.cli.reading import guesses
    from fairsmooth.cli.targets import require_target

    scoring = {"keep": keep or [], "threshold": threshold, "unknown": unknown, "strict": strict}
    if wants_parts(data, output, jobs=jobs, scheduler=scheduler):
        predict_by_parts(model, data, output, scoring, jobs=jobs, scheduler=scheduler)
        return
    require_target(output, inputs=[data, model])
    from fairsmooth.data.files import count_rows, write_chunks
    from fairsmooth.data.files.writing import output_kind
    from fairsmooth.tables import TableModel

    output_kind(output)
    loaded = TableModel.load(model)
    options = {"sep": sep, "decimal": decimal, "encoding": encoding}
    notes = guesses(data, **options)
    work = _Work(loaded, data, options, scoring)
    with progress("counting") as update:
        total = count_rows(data, **options)
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
        from fairsmooth.tables.scoring import REASON, rows_at_once, with_reason_column

        first_row = 0
        how = {"text": self.model.text_columns, **self.reading}
        how["chunk_rows"] = rows_at_once(len(self.model.classifier.groups_))
        for chunk in read_chunks(self.data, **how):
            scored = self.model.predict(chunk, first_row=first_row, **self.options)
            if REASON in scored and not with_reasons:
                raise _Reasons
            self.n_unscored += int(scored["probability"].isna().sum())
            yield with_reason_column(scored) if with_reasons else scored
            first_row += len(chunk)
            update(completed=first_row)
