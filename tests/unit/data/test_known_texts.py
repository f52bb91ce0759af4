"""What a model took for categories is text again, or is refused by name."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairsmooth.data.files import read_table
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.known_texts import frame_with_texts
from fairsmooth.exceptions import InputError

PAIRS = pa.map_(pa.string(), pa.int64())
# What is no single value, or no text, in a column of categories.
NO_TEXTS = {
    "list": pa.array([["a"], ["b"]]),
    "struct": pa.array([{"k": "a"}, {"k": "b"}]),
    "map": pa.array([[("a", 1)], [("b", 2)]], PAIRS),
    "bytes": pa.array([b"\xff", b"a"]),
}
EXPECTED = "Expected numbers, text, dates or true/false in column 'job', got"


@pytest.mark.parametrize("values", NO_TEXTS.values(), ids=NO_TEXTS)
def test_lists_and_the_like_in_a_column_of_categories_are_refused_by_name(values, tmp_path):
    table = pa.table({"code": ["1", "2"], "job": values})
    pq.write_table(table, tmp_path / "part.parquet")
    for given in (table, pl.from_arrow(table)):
        with pytest.raises(InputError, match=EXPECTED):
            frame_with_texts(given, ["absent", "code", "job"])
    for path in (tmp_path / "part.parquet", tmp_path):
        with pytest.raises(InputError, match=f"{EXPECTED} {str(values.type)[:4]}"):
            read_table(path, text=["code", "job"])
    stored = StoredTable.at(tmp_path, text=["code", "job"])
    with pytest.raises(InputError, match=EXPECTED):
        stored["job"]
    with pytest.raises(InputError, match=EXPECTED):
        list(stored.chunks())


def test_lists_in_pandas_are_refused_by_name():
    table = pd.DataFrame({"code": ["1", "2"], "job": [["a"], ["b"]]})
    with pytest.raises(InputError, match=f"{EXPECTED} lists or a mixture"):
        frame_with_texts(table, ["code", "job"])


def test_categories_stay_texts():
    frame = frame_with_texts({"code": ["1", "2"], "age": ["31", "n/a"]}, ["code"])
    assert frame["code"].tolist() == ["1", "2"]
    assert frame["age"].dtype == "Int64"
