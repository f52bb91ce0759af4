"""Tables of any texts and numbers: files, frames and chunks agree; normal forms are stable."""

import csv
import io
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.files import read_chunks, read_table
from fairsmooth.data.frames import as_frame, table_digest
from fairsmooth.data.values import normal_text

READABLE = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)
FIELDS = st.one_of(
    READABLE,
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.dates().map(str),
    st.datetimes().map(str),
    st.sampled_from(
        ["n/a", "?", "-", "None", "01", "1", "1.0", "1.50", "+1", "true", "FALSE", "1e5", "x", ""]
    ),
)
COLUMNS = st.one_of(
    st.lists(FIELDS, min_size=3, max_size=3),
    st.lists(st.sampled_from(["1", "2", "03", "n/a", "X", "2.50", "-"]), min_size=3, max_size=3),
    st.lists(st.dates().map(str), min_size=3, max_size=3),
)


def text_file(path, columns, sep):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sep, quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    path.write_text(out.getvalue(), encoding="utf-8", newline="")


@settings(max_examples=50, deadline=None)
@given(st.lists(COLUMNS, min_size=1, max_size=3))
def test_text_is_the_same_table_from_every_file(values):
    columns = {f"c{k}": column for k, column in enumerate(values)}
    digest = table_digest(as_frame(columns))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for ending, sep in ((".csv", ","), (".tsv", "\t")):
            path = folder / f"t{ending}"
            text_file(path, columns, sep)
            assert table_digest(read_table(path, sep=sep, decimal=".")) == digest
            chunks = list(read_chunks(path, chunk_rows=2, sep=sep, decimal="."))
            assert table_digest(pd.concat(chunks, ignore_index=True)) == digest
        pq.write_table(pa.table(columns), folder / "t.parquet")
        assert table_digest(read_table(folder / "t.parquet")) == digest


@given(FIELDS)
def test_a_normal_text_is_its_own_normal_text(value):
    text = normal_text(value)
    assert text is None or normal_text(text) == text


@given(FIELDS)
def test_a_value_has_one_normal_text_however_it_was_read(value):
    column = as_frame({"c": [value, value]})["c"]
    assert normal_text(column.iloc[0]) == normal_text(value) or value.strip() in ("-", "None", ".")


@settings(max_examples=50, deadline=None)
@given(st.lists(FIELDS, min_size=4, max_size=4, unique=True), st.randoms(use_true_random=False))
def test_chunks_are_encoded_as_the_whole_table_is(values, random):
    column = [random.choice(values) for _ in range(12)]
    table = as_frame({"c": column, "k": np.arange(12) % 3})
    encoder = TableEncoder.learn(table)
    whole = encoder.transform(table).to_numpy()
    for start in (0, 5):
        raw = pd.DataFrame({"c": column, "k": np.arange(12) % 3}).iloc[start : start + 4]
        for part in (table.iloc[start : start + 4], raw, as_frame(raw, text=encoder.text_columns)):
            np.testing.assert_array_equal(encoder.transform(part), whole[start : start + 4])
