"""Messy tables from files to encoders: the same table in any form gives the same of everything."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.messy_tables import COLUMNS, N, messy

from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.files import read_chunks, read_table, write_chunks
from fairsmooth.data.frames import as_frame, table_digest
from fairsmooth.data.roles import (
    Roles,
    label_codes,
    not_features,
    sensitive_frame,
    usable_rows,
    with_bands,
)


def frames(columns, folder: Path):
    """Return the table in every form in which people have it."""
    frame = pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in columns.items()})
    plain = pd.DataFrame(columns)
    arrow = pa.table(columns)
    frame.to_csv(folder / "a.csv", index=False)
    plain.to_csv(folder / "b.csv", index=False, sep=";", decimal=",")
    frame.to_csv(folder / "c.csv.gz", index=False)
    write_chunks(folder / "d.csv.zst", [frame.iloc[:100], frame.iloc[100:]])
    frame.to_csv(folder / "e.tsv", index=False, sep="\t")
    frame.to_csv(folder / "f.txt", index=False, sep="|", encoding="utf-8-sig")
    frame.to_csv(folder / "g.csv", index=False, encoding="utf-16", lineterminator="\r\n")
    pq.write_table(arrow, folder / "h.parquet")
    (folder / "parts").mkdir()
    pq.write_table(arrow.slice(0, 99), folder / "parts" / "0.parquet")
    pq.write_table(arrow.slice(99), folder / "parts" / "1.parquet")
    paths = sorted(folder.iterdir())
    chunked = as_frame(pd.concat(read_chunks(folder / "a.csv", chunk_rows=37), ignore_index=True))
    return {
        **{path.name: read_table(path) for path in paths},
        "chunks": chunked,
        "pandas": as_frame(plain),
        "objects": as_frame(frame),
        "arrow": as_frame(arrow),
        "polars": as_frame(pl.DataFrame(columns, infer_schema_length=None)),
        "dict": as_frame(columns),
    }


def learned(table):
    """Return all that training takes from a table, as plain data."""
    roles = with_bands(Roles("risk", ("sex", "age:3"), positive="good"), table)
    usable, notes = usable_rows(table, roles)
    rows = table[usable]
    y, values = label_codes(rows["risk"], roles)
    encoder = TableEncoder.learn(rows.drop(columns=not_features(rows, roles)))
    encoded = encoder.transform(rows)
    return json.dumps(
        {
            "digest": table_digest(table),
            "labels": [values, y.tolist()],
            "groups": sensitive_frame(rows, roles).to_numpy().tolist(),
            "notes": [notes, encoder.notes],
            "encoder": encoder.to_dict(),
            "features": encoder.feature_names,
            "encoded": encoded.to_numpy().sum(axis=0).tolist(),
        }
    )


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
def test_the_same_table_in_any_form_gives_the_same(values, tmp_path):
    results = {name: learned(table) for name, table in frames(messy(values), tmp_path).items()}
    reference = results["a.csv"]
    assert {name for name, result in results.items() if result != reference} == set()


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
def test_no_row_of_the_training_table_is_without_a_score(values, tmp_path):
    table = as_frame(messy(values))
    encoder = TableEncoder.learn(table[["c", "x"]])
    again = TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert again == encoder
    # One row at a time is what one file of all rows gives.
    encoded, reasons = again.transform_rows(table)
    assert not any(reasons)
    for row in (0, 3, N - 1):
        one, _ = again.transform_rows(pd.DataFrame(messy(values)).iloc[[row]])
        np.testing.assert_array_equal(one.to_numpy()[0], encoded.to_numpy()[row])


def test_there_are_sixty_of_them():
    assert len(COLUMNS) >= 60
