"""Parquet tables in many parts: shares of readers, columns, parts that are not well."""

from decimal import Decimal
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairsmooth.data.files import read_table
from fairsmooth.data.files.parquet import Parquet, others_in
from fairsmooth.data.files.part_file import PartFile
from fairsmooth.data.files.stored import StoredTable
from fairsmooth.exceptions import InputError


@pytest.fixture
def folder(tmp_path):
    table = pa.table({"a": list(range(1000)), " b ": [f"t{k % 7}" for k in range(1000)]})
    for number, (start, stop) in enumerate([(0, 100), (100, 100), (100, 700), (700, 1000)]):
        part = table.slice(start, stop - start)
        pq.write_table(part, tmp_path / f"{number}.parquet", row_group_size=70)
    return tmp_path


def values(source, *columns):
    frames = [batch.to_pandas() for batch in source.batches(columns or None)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


@pytest.mark.parametrize("of", [1, 2, 3, 7, 40])
def test_shares_are_neighbours_and_together_all_rows(folder, of):
    whole = Parquet(folder)
    shares = [whole.of_share(reader, of) for reader in range(of)]
    rows = [values(share)["a"].tolist() if share.n_rows else [] for share in shares]
    assert list(chain.from_iterable(rows)) == list(range(1000))
    assert [len(found) for found in rows] == [share.n_rows for share in shares]
    before = [share.rows_before for share in shares if share.n_rows]
    assert before == [found[0] for found in rows if found]
    assert max(map(len, rows)) <= 1000 / of + 2 * 70


def test_one_column_can_be_read_by_its_name_without_spaces(folder):
    assert list(values(Parquet(folder), "b")) == ["b"]
    assert Parquet(folder).n_rows == 1000
    assert max(batch.num_rows for batch in Parquet(folder).batches(rows=20)) == 20


def test_a_reader_must_be_one_of_them(folder):
    with pytest.raises(InputError, match="Expected a reader from 0 to 1, got 2"):
        Parquet(folder).of_share(2, 2)


def test_a_damaged_part_is_named(folder):
    contents = (folder / "2.parquet").read_bytes()
    (folder / "2.parquet").write_bytes(contents[: len(contents) // 2])
    with pytest.raises(InputError, match=r"Expected a Parquet table, got .*2\.parquet: "):
        values(Parquet(folder))


def test_a_part_damaged_in_its_middle_is_named(folder):
    contents = bytearray((folder / "2.parquet").read_bytes())
    contents[10:3000] = bytes(2990)
    (folder / "2.parquet").write_bytes(contents)
    with pytest.raises(InputError, match=r"Expected a Parquet table, got .*2\.parquet: "):
        values(Parquet(folder))


def test_an_empty_file_is_named(folder):
    (folder / "4.parquet").write_bytes(b"")
    with pytest.raises(InputError, match=r"Expected a Parquet table, got .*4\.parquet: "):
        values(Parquet(folder))


def test_parts_that_cannot_be_one_table_are_refused(folder):
    pq.write_table(pa.table({"a": ["x"], "b": ["y"]}), folder / "9.parquet")
    message = r"one type of values in column 'a' of all files, got int64 in .*0\.parquet and string"
    with pytest.raises(InputError, match=message):
        values(Parquet(folder))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("coded_first", [False, True])
def test_text_may_be_coded_in_some_files_and_spelt_out_in_others(tmp_path, kind, coded_first):
    coded = pa.table({"a": pa.array(["x", None, "y"]).dictionary_encode(), "n": [1, 2, 3]})
    plain = pa.table({"a": pa.array(["z", "x", None]).cast(kind), "n": [4, 5, 6]})
    unknown = pa.table({"a": pa.nulls(1), "n": [7]})
    ordered = (coded, plain) if coded_first else (plain, coded)
    for number, part in enumerate([*ordered, unknown]):
        pq.write_table(part, tmp_path / f"{number}.parquet")
    found = values(Parquet(tmp_path))
    expected = pa.concat_tables([coded.cast(plain.schema), plain])["a"].to_pylist()
    if not coded_first:
        expected = expected[3:] + expected[:3]
    assert [None if pd.isna(v) else v for v in found["a"]] == [*expected, None]


def test_other_files_are_told(folder, tmp_path):
    (folder / "notes.csv").write_text("a\n1\n")
    (folder / "_SUCCESS").write_text("")
    assert others_in(folder) == ["notes.csv"]
    assert len(values(Parquet(folder))) == 1000
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "notes.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"found none but notes\.csv"):
        values(Parquet(empty))


def test_a_file_has_its_own_columns_whatever_folders_above_it_are_called(tmp_path, monkeypatch):
    (tmp_path / "sex=f" / "below").mkdir(parents=True)
    file = tmp_path / "sex=f" / "below" / "rows.parquet"
    pq.write_table(pa.table({"sex": ["f", "m"], "a": [1, 2]}), file)
    monkeypatch.chdir(file.parent)
    for path in (file, file.parent, Path("rows.parquet"), Path()):
        assert values(Parquet(path))["sex"].tolist() == ["f", "m"]
    monkeypatch.chdir(tmp_path)
    assert Parquet(file.relative_to(tmp_path)).names == ["sex", "a"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_column_that_files_and_names_of_folders_tell_is_refused(tmp_path, kind):
    (tmp_path / "job=cook").mkdir()
    rows = pa.table({"job": pa.array(["clerk", "nurse"], kind)})
    pq.write_table(rows, tmp_path / "job=cook" / "a=b.parquet")
    with pytest.raises(InputError, match=r"'job' in the files or .* got it in both \(job=cook/a=b"):
        values(Parquet(tmp_path))
    pq.write_table(rows.rename_columns(["a"]), tmp_path / "job=cook" / "a=b.parquet")
    assert values(Parquet(tmp_path))["job"].tolist() == ["cook", "cook"]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32()])
def test_numbers_of_a_file_are_the_same_whatever_the_other_files_have(tmp_path, kind):
    numbers = pa.array(np.array([0.5, 0.1, np.nan], dtype=kind.to_pandas_dtype()), kind)
    pq.write_table(pa.table({"b": ["x"] * 3, "a": numbers}), tmp_path / "1.parquet")
    alone = read_table(tmp_path)["a"].tolist()
    pq.write_table(pa.table({"a": [0.1, 1 / 3]}), tmp_path / "2.parquet")
    together = read_table(tmp_path)["a"].tolist()
    np.testing.assert_array_equal(together, [*alone, 0.1, 1 / 3])
    np.testing.assert_array_equal(StoredTable.at(tmp_path)["a"], together)
    part = PartFile(
        tmp_path / "1.parquet", folder=tmp_path, schema=Parquet(tmp_path).dataset.schema
    )
    np.testing.assert_array_equal(StoredTable(part)["a"], alone)


def test_decimals_are_read_as_in_a_text_file(tmp_path):
    texts = {
        "a": ["1.132", "0.10", None],
        "b": ["12345678901234567890", "12345678901234567891", "1"],
    }
    exact = {name: [v and Decimal(v) for v in values] for name, values in texts.items()}
    pq.write_table(pa.table(exact), tmp_path / "1.parquet")
    pd.DataFrame(texts).to_csv(tmp_path / "t.csv", index=False)
    expected = read_table(tmp_path / "t.csv")
    assert expected["a"].tolist()[:2] == [1.132, 0.1]
    assert expected["b"].tolist() == texts["b"]
    pd.testing.assert_frame_equal(read_table(tmp_path / "1.parquet"), expected)
    assert StoredTable.at(tmp_path)["b"].tolist() == texts["b"]
    pq.write_table(pa.table({"a": [0.5], "b": exact["b"][:1]}), tmp_path / "2.parquet")
    assert read_table(tmp_path)["a"].tolist()[:2] == [1.132, 0.1]
