"""``fairsmooth predict``: scores, decisions and certified intervals, row by row."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

from fairsmooth.cli.output import messages, progress
from fairsmooth.cli.pipeline import features_of
from fairsmooth.cli.train import Unknown
from fairsmooth.core.certificate import group_text
from fairsmooth.data.files import read_chunks, write_chunks
from fairsmooth.persistence import SavedModel, read_model

NAME = "predict"


def command(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    data: Annotated[Path, typer.Argument(help="A table, .csv or .parquet.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Table to write.")],
    unknown: Unknown = None,
) -> None:
    """Predict every row of a table; the sensitive columns are not needed."""
    saved = read_model(model)
    with progress("predicting") as update:

        def predicted() -> Iterator[pd.DataFrame]:
            for chunk in read_chunks(data):
                yield predict_rows(saved, chunk, unknown=unknown)
                update(advance=len(chunk))

        rows = write_chunks(output, predicted())
    messages.print(f"Wrote {rows:,} rows to {output}.", markup=False)


def predict_rows(
    model: SavedModel, table: pd.DataFrame, *, unknown: str | None = None
) -> pd.DataFrame:
    """Return probability, prediction and every group's interval for the rows of a table."""
    classifier = model.classifier
    features = features_of(model, table, unknown=unknown)
    scores = classifier.predict_proba(features)[:, 1]
    intervals = classifier.predict_interval(features)
    values: Any = [model.training.get("negative", 0), model.training.get("positive", 1)]
    chosen = np.array(values)[(scores > classifier.threshold_).astype(int)]
    columns: dict[str, Any] = {"probability": scores, "prediction": chosen}
    for position, group in enumerate(classifier.groups_):
        columns[f"lower_{group_text(group)}"] = intervals[:, position, 0]
        columns[f"upper_{group_text(group)}"] = intervals[:, position, 1]
    return pd.DataFrame(columns)
