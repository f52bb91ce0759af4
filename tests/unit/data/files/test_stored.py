"""A table that stays in its files is the table that is read whole."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.messy_tables import COLUMNS, N, messy

from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.files import read_table
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.data.frames import table_digest
from fairsmooth.exceptions import InputError


def folder_of(columns, folder, cuts=(0, 99, 99, 130, N)):
    table = pa.table(columns)
    folder.mkdir()
    for number in range(len(cuts) - 1):
        part = table.slice(cuts[number], cuts[number + 1] - cuts[number])
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=50)
    return folder


def plain(column):
    """Return a column with its texts spelt out."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.astype(object).astype("str")
    return column


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
def test_columns_and_chunks_are_those_of_the_whole_table(values, tmp_path):
    path = folder_of(messy(values), tmp_path / "parts")
    whole, stored = read_table(path), StoredTable.at(path)
    assert stored.columns == list(whole.columns)
    assert len(stored) == len(whole)
    assert stored.digest() == table_digest(whole)
    for name in whole.columns:
        pd.testing.assert_series_equal(plain(stored[name]), whole[name])
    chunks = [chunk.apply(plain) for chunk in stored.chunks(rows=37)]
    assert max(map(len, chunks)) == 37
    pd.testing.assert_frame_equal(pd.concat(chunks, ignore_index=True), whole)
    encoder = TableEncoder.learn(whole[["c", "x"]])
    assert TableEncoder.learn(stored.frame(["c", "x"])) == encoder


def test_known_categories_stay_categories(tmp_path):
    path = folder_of({"c": [str(k % 3) for k in range(N)]}, tmp_path / "parts")
    assert StoredTable.at(path)["c"].dtype == "int64"
    assert StoredTable.at(path, text=["c"])["c"].cat.categories.tolist() == ["0", "1", "2"]


def test_declared_categories_are_texts(tmp_path):
    coded = pa.array([("b", " a", None)[k % 3] for k in range(N)]).dictionary_encode()
    path = folder_of({"c": coded}, tmp_path / "parts")
    pd.testing.assert_series_equal(plain(StoredTable.at(path)["c"]), read_table(path)["c"])


def test_an_unknown_column_is_named(tmp_path):
    path = folder_of({"c": list(range(N))}, tmp_path / "parts")
    with pytest.raises(InputError, match="'d'"):
        StoredTable.at(path)["d"]


def test_a_table_without_rows_has_columns_without_rows(tmp_path):
    (tmp_path / "parts").mkdir()
    pq.write_table(pa.table({"c": pa.array([], pa.string())}), tmp_path / "parts" / "0.parquet")
    stored = StoredTable.at(tmp_path / "parts")
    assert len(stored["c"]) == 0
    assert stored.digest() == table_digest(read_table(tmp_path / "parts"))
