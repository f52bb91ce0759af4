import pandas as pd
import pytest

from fairsmooth.data.files import read_table, write_chunks
from fairsmooth.exceptions import InputError

TABLE = pd.DataFrame({"a": [1, 2, 3], "b": [0.1, None, 1e-300], "c": ["x,y", '"', "z\n"]})


@pytest.mark.parametrize(
    "name",
    ["t.csv", "t.csv.gz", "t.csv.zst", "t.csv.bz2", "t.tsv", "t.tsv.gz", "t.txt", "t.parquet"],
)
def test_what_is_written_is_read_again(tmp_path, name):
    assert write_chunks(tmp_path / name, [TABLE[:2], TABLE[2:]]) == 3
    expected = TABLE.assign(c=["x,y", '"', "z"])
    pd.testing.assert_frame_equal(read_table(tmp_path / name), expected)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_failure_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("before")

    def failing():
        yield TABLE
        raise RuntimeError("no more rows")

    with pytest.raises(RuntimeError, match="no more rows"):
        write_chunks(path, failing())
    assert path.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"ends in \.csv or \.parquet, got .*t\.xlsx"):
        write_chunks(tmp_path / "t.xlsx", [TABLE])
    with pytest.raises(InputError, match=r"ends in \.csv, \.tsv"):
        write_chunks(tmp_path / "t.json", [TABLE])
    with pytest.raises(InputError, match=r"rows to write to .*, got none, not even a header"):
        write_chunks(tmp_path / "t.csv", [])
    mixed = pd.DataFrame({"a": [1, "x"]}, dtype=object)
    with pytest.raises(InputError, match="columns that Parquet can hold"):
        write_chunks(tmp_path / "t.parquet", [mixed])
    # What came first, nothing, decided the type of the column.
    late = [pd.DataFrame({"tags": [value]}, dtype=object) for value in (None, [1])]
    with pytest.raises(InputError, match=r"columns that Parquet can hold .* or write \.csv"):
        write_chunks(tmp_path / "t.parquet", late)
    assert not list(tmp_path.iterdir())


def test_no_rows_are_a_header(tmp_path):
    for name in ("t.csv", "t.parquet"):
        assert write_chunks(tmp_path / name, [TABLE[:0]]) == 0
        assert list(read_table(tmp_path / name)) == ["a", "b", "c"]
