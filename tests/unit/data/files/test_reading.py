"""Files people have, and what is wrong with some of them."""

import csv
import gzip
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairsmooth.data.files import count_rows, describe_format, read_chunks, read_table
from fairsmooth.data.frames import table_digest
from fairsmooth.exceptions import InputError


def written(folder, contents, name="t.csv"):
    path = folder / name
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    return path


def columns_of(path, **options):
    return read_table(path, **options).to_dict("list")


def test_a_letter_after_row_55_000_makes_the_whole_column_text(tmp_path):
    rows = [str(1 + k % 2) for k in range(60_000)]
    rows[55_500] = "X"
    path = written(tmp_path, "code,n\n" + "".join(f"{code},{k}\n" for k, code in enumerate(rows)))
    chunks = list(read_chunks(path, chunk_rows=20_000))
    assert [len(chunk) for chunk in chunks] == [20_000] * 3
    assert {tuple(chunk.dtypes.astype(str)) for chunk in chunks} == {("str", "int64")}
    assert sorted(set(read_table(path)["code"])) == ["1", "2", "X"]


def test_a_leading_zero_anywhere_makes_the_whole_column_text(tmp_path):
    path = written(tmp_path, "code\n" + "1\n" * 60_000 + "01\n")
    assert sorted(set(read_table(path)["code"])) == ["01", "1"]


@pytest.mark.parametrize("chunk_rows", [1, 2, 3, 100])
def test_all_chunks_have_the_types_of_the_whole_table(tmp_path, chunk_rows):
    text = "a,b,d,e,f\n1,1.5,true,2020-01-01,\n,2,false,,\n3,x,n/a,2020-01-02,\n"
    whole = read_table(written(tmp_path, text))
    assert [str(kind) for kind in whole.dtypes] == [
        *("Int64", "str", "boolean", "datetime64[us]", "str")
    ]
    chunks = list(read_chunks(tmp_path / "t.csv", chunk_rows=chunk_rows))
    assert all((chunk.dtypes == whole.dtypes).all() for chunk in chunks)
    pd.testing.assert_frame_equal(pd.concat(chunks, ignore_index=True), whole)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a,b\n1,2\n3,4,5\n", "3 in line 3"),
        ("a,b\n1,2\n3\n5,6\n", "1 in line 3"),
        ('a,b\n"1\n1",2\n3,4\n5,6,7\n', "3 in line 5"),
        ("a,b\n1,2,\n", "3 in line 2"),
        ("a;b\n1;2\n1;2;3\n", "3 in line 3"),
        ("a,b\n" + "1,2\n" * 70_000 + "1,2,3\n", "3 in line 70002"),
        ('a,b\n1,2\n"3,4\n5,6\n', "1 in line 4"),
    ],
)
def test_a_row_with_more_or_fewer_fields_than_the_header_is_refused(tmp_path, text, line):
    with pytest.raises(InputError, match=rf"Expected 2 fields in every line .* got {line}\."):
        read_table(written(tmp_path, text))


@pytest.mark.parametrize(
    ("contents", "match"),
    [
        ("", "table with a header, got an empty file"),
        ("\n\n", "table with a header, got an empty file"),
        ("a,a\n1,2\n", "column name once, got 'a' twice"),
        ("a, a\n1,2\n", "column name once, got 'a' twice"),
        (",a\n0,2\n", "name for every column, got none for column 1 of 2"),
        ("a,b,\n1,2,\n", "got none for column 3 of 3"),
        (b"a,b\n1,2\n1,\x002\n", "got a NUL byte in line 3"),
        (b"a,b\n1,\xe9\xe9\n", "Expected UTF-8 text .* near line 2. Name its encoding"),
        ("a,b\n" + "1" * 400 + ",2\n", r"below 1\.8e308 in column 'a', got 1+… \(400 characters"),
        ("a,b\n1e999,2\n", r"below 1\.8e308 in column 'a', got 1e999"),
        (b"PAR1xxxx", "got a Parquet file. Give the file the ending"),
        (b"PK\x03\x04xxxx", "got an Excel or zip file"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "got a gzip file"),
        ("a,b\n" + "1,2\n" * 70_000 + f"1,{'x' * 19_000_000}\n", "in text form, got .*straddl"),
    ],
)
def test_what_is_no_table_is_one_line(tmp_path, contents, match):
    with pytest.raises(InputError, match=match) as caught:
        read_table(written(tmp_path, contents))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("place", [0, 50_000])
def test_a_long_field_is_read_wherever_it_stands(tmp_path, place):
    usual, field = csv.field_size_limit(), "x" * 200_000
    rows = ["1;y"] * place + [f"2;{field}", "3;z"]
    table = read_table(written(tmp_path, "a;b\n" + "\n".join(rows) + "\n"))
    assert table["b"].tolist()[-2:] == [field, "z"]
    assert csv.field_size_limit() == usual


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("t.xls", "ends in .csv, .tsv or .txt"),
        ("t", "ends in .csv, .tsv or .txt"),
        ("t.csv.rar", "ends in .csv, .tsv or .txt"),
        ("t.parquet", "Expected a Parquet table, got .*t.parquet"),
        ("t.xlsx", "Expected an Excel file, got .*t.xlsx"),
        ("t.csv.gz", "in text form, got .*t.csv.gz"),
        ("t.csv.zst", "in text form, got .*t.csv.zst"),
    ],
)
def test_names_and_contents_that_do_not_fit(tmp_path, name, match):
    with pytest.raises(InputError, match=match) as caught:
        read_table(written(tmp_path, "a,b\n1,2\n", name))
    assert "\n" not in str(caught.value)


def test_a_compressed_file_that_was_cut_is_refused(tmp_path):
    whole = gzip.compress("".join(f"{k},{k * k}\n" for k in range(99_999)).encode())
    path = written(tmp_path, whole[: len(whole) // 2], "t.csv.gz")
    with pytest.raises(InputError, match=r"got .*t.csv.gz: Truncated compressed stream"):
        read_table(path)


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="found no file at"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"Parquet files in the folder .*, found none"):
        read_table(tmp_path / "folder")


def test_options_are_checked(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n")
    for bad in ("", "ab", '"', "\n"):
        with pytest.raises(InputError, match="Expected sep to be one character"):
            read_table(path, sep=bad)
    with pytest.raises(InputError, match=r"decimal to be one of '\.', ','"):
        read_table(path, decimal=";")
    for bad in ("klingon", "rot13", "base64", "undefined", ""):
        with pytest.raises(InputError, match="Expected a known encoding, such as 'latin-1', got"):
            read_table(path, encoding=bad)


def test_a_header_without_rows_is_a_table_without_rows(tmp_path):
    for text in ("a,b\n", "a,b"):
        table = read_table(written(tmp_path, text))
        assert list(table) == ["a", "b"]
        assert len(table) == 0
    pd.DataFrame({"a": [1.0]}).iloc[:0].to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").shape == (0, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a,b\n"x, ""y""\nz",1\n', {"a": ['x, "y"\nz'], "b": [1]}),
        ("a,b\r\n1,2\r\n\r\n3,4", {"a": [1, 3], "b": [2, 4]}),
        ("a,b\r1,2\r3,4\r", {"a": [1, 3], "b": [2, 4]}),
        ("\n\n a , b\n 1 , x \n", {"a": [1], "b": ["x"]}),
        ("a,b\n+1,.5\n-2,1.\n", {"a": [1, -2], "b": [0.5, 1.0]}),
        ("a,b\n1e3,-0\n2,1\n", {"a": [1000.0, 2.0], "b": [0, 1]}),
        ("a,b\nTRUE,False\ntrue,FALSE\n", {"a": [True, True], "b": [False, False]}),
        ('a,b\n"1,234",x\n"5,678",y\n', {"a": ["1,234", "5,678"], "b": ["x", "y"]}),
        ("a,b\n9007199254740992,1\n9007199254740993,2\n", {
            "a": ["9007199254740992", "9007199254740993"], "b": [1, 2]}),
        ("a,b\n2024-02-31,1\n2024-02-01,2\n", {"a": ["2024-02-31", "2024-02-01"], "b": [1, 2]}),
        ("a,b\n1/2/2024,yes\n3/2/2024,no\n", {"a": ["1/2/2024", "3/2/2024"], "b": ["yes", "no"]}),
        ("ä,β\nö,ж\n", {"ä": ["ö"], "β": ["ж"]}),
    ],
)  # fmt: skip
def test_fields(tmp_path, text, expected):
    assert columns_of(written(tmp_path, text)) == expected


def test_missing_values(tmp_path):
    texts = ["", " ", "n/a", "N/A", "NA", "?", "NaN", "nan", "null", "NULL", "#N/A", "<NA>", "NaT"]
    path = written(tmp_path, "a,b\n1,x\n" + "".join(f"{text},{text}\n" for text in texts))
    table = read_table(path)
    assert table.isna().sum().tolist() == [len(texts)] * 2
    assert str(table["a"].dtype) == "Int64"
    # Between numbers these are missing too; between words they may be a word.
    soft = written(tmp_path, "a,b\n1,x\nNone,None\n-,-\n.,.\n", "soft.csv")
    assert read_table(soft)["a"].isna().sum() == 3
    assert read_table(soft)["b"].tolist() == ["x", "None", "-", "."]


@pytest.mark.parametrize(
    ("encoding", "given"),
    [
        ("utf-8-sig", None),
        ("utf-16", None),
        ("utf-32", None),
        ("latin-1", "latin-1"),
        ("cp1252", "cp1252"),
        ("utf-16-le", "utf-16-le"),
        ("shift_jis", "shift_jis"),
    ],
)
def test_encodings(tmp_path, encoding, given):
    word = "日本" if encoding == "shift_jis" else "Zürich"
    path = written(tmp_path, f"town,n\n{word},1\nx,2\n".encode(encoding))
    assert columns_of(path, encoding=given) == {"town": [word, "x"], "n": [1, 2]}
    assert describe_format(path, encoding=given).columns == ("town", "n")


def test_parquet_folders_are_one_table_with_one_schema(tmp_path):
    folder = tmp_path / "parts"
    (folder / "year=2020").mkdir(parents=True)
    (folder / "year=2021").mkdir()
    pq.write_table(pa.table({"a": [1, 2], "c": ["1", "2"]}), folder / "year=2020" / "0.parquet")
    pq.write_table(pa.table({"a": [1.5], "c": ["X"]}), folder / "year=2021" / "0.parquet")
    (folder / "_metadata.parquet").write_text("not a table")
    assert columns_of(folder) == {
        "a": [1.0, 2.0, 1.5], "c": ["1", "2", "X"], "year": [2020, 2020, 2021],
    }  # fmt: skip
    assert count_rows(folder) == 3


def test_parquet_text_is_read_as_text_in_a_csv_file(tmp_path):
    table = pd.DataFrame({"n": ["1", "n/a", "3"], "c": ["01", "1", "?"], "d": ["2020-01-01"] * 3})
    table.to_parquet(tmp_path / "t.parquet")
    table.to_csv(tmp_path / "t.csv", index=False)
    pd.testing.assert_frame_equal(
        read_table(tmp_path / "t.parquet"), read_table(tmp_path / "t.csv")
    )


def test_declared_categories_stay_categories(tmp_path):
    frame = pd.DataFrame({"c": pd.Categorical(["1", "2", "n/a"])})
    frame.to_parquet(tmp_path / "t.parquet")
    values = read_table(tmp_path / "t.parquet")["c"]
    assert values.tolist()[:2] == ["1", "2"]
    assert values.isna().tolist() == [False, False, True]


def test_columns_of_lists_are_kept_until_they_are_used(tmp_path):
    pq.write_table(pa.table({"a": [1, 2], "l": [[1], [2, 3]]}), tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet")) == ["a", "l"]


def test_excel(tmp_path, monkeypatch):
    frame = pd.DataFrame(
        {
            "n": [1, None, 3],
            "t": ["a", "n/a", "01"],
            "d": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]),
            "b": [True, False, True],
        }
    )
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    frame.to_csv(tmp_path / "t.csv", index=False)
    digests = {table_digest(read_table(tmp_path / name)) for name in ("t.xlsx", "t.csv")}
    assert digests == {table_digest(frame)}
    assert str(describe_format(tmp_path / "t.xlsx")) == "Excel, 4 columns, 3 rows"
    assert [len(chunk) for chunk in read_chunks(tmp_path / "t.xlsx", chunk_rows=2)] == [2, 1]
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"Install it with: pip install 'fairsmooth\[excel\]'"):
        read_table(tmp_path / "t.xlsx")


def test_blank_rows_of_a_sheet_are_no_rows(tmp_path):
    pd.DataFrame({"a": [1, None, 2], "b": ["x", None, "y"]}).to_excel(
        tmp_path / "t.xlsx", index=False, startrow=2
    )
    assert columns_of(tmp_path / "t.xlsx") == {"a": [1, 2], "b": ["x", "y"]}
    pd.DataFrame([["a", None], [None, None], [1, 2]]).to_excel(
        tmp_path / "wide.xlsx", index=False, header=False, startrow=2
    )
    with pytest.raises(InputError, match=r"1 cells in every row .* got one more in row 5"):
        read_table(tmp_path / "wide.xlsx")


def test_excel_sheets_that_are_no_table(tmp_path):
    pd.DataFrame([["a", "b", None], [1, 2, 3]]).to_excel(
        tmp_path / "wide.xlsx", index=False, header=False
    )
    with pytest.raises(InputError, match=r"2 cells in every row .* got one more in row 2"):
        read_table(tmp_path / "wide.xlsx")
    pd.DataFrame().to_excel(tmp_path / "empty.xlsx", index=False)
    with pytest.raises(InputError, match="got an empty sheet"):
        read_table(tmp_path / "empty.xlsx")


def test_rows_are_counted(tmp_path):
    assert count_rows(written(tmp_path, 'a,b\n"1\n2",3\n4,5\n')) == 2
    pd.DataFrame({"a": range(7)}).to_parquet(tmp_path / "t.parquet")
    assert count_rows(tmp_path / "t.parquet") == 7


def test_a_damaged_parquet_file_cannot_be_described(tmp_path):
    with pytest.raises(InputError, match=r"Expected a Parquet table, got .*t\.parquet"):
        describe_format(written(tmp_path, b"PAR1 not really", "t.parquet"))


def test_an_excel_file_that_unpacks_to_too_much(tmp_path, monkeypatch):
    pd.DataFrame({"a": [1]}).to_excel(tmp_path / "t.xlsx", index=False)
    monkeypatch.setattr("fairsmooth.data.files.excel._LARGEST", 100)
    with pytest.raises(InputError, match=r"at most 100 bytes in .*t\.xlsx, got \d+ unpacked"):
        read_table(tmp_path / "t.xlsx")


def test_a_tab_may_be_written_as_in_a_shell(tmp_path):
    (tmp_path / "t.txt").write_text("a;b\tc\n1;2\t3\n")
    assert list(read_table(tmp_path / "t.txt", sep=r"\t")) == ["a;b", "c"]


def test_a_workbook_without_cells_is_refused(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.create_chartsheet()
    book.remove(book.worksheets[0])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match=r"Expected .* got .*t\.xlsx"):
        read_table(tmp_path / "t.xlsx")
