import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fairsmooth.cli.reading import guesses, read


@pytest.mark.parametrize(
    ("contents", "told"),
    [
        (b"a,b\n1.5,2\n", None),
        (b"\xef\xbb\xbfa,b\n1.5,2\n", None),
        (b"a;b\n1.5;2\n", "semicolon-separated, UTF-8 (guessed"),
        (b"a;b\n1,5;2\n", "semicolon-separated, decimal comma, UTF-8 (guessed"),
        ("a,b\n1.5,2\n".encode("utf-16"), "comma-separated, UTF-16 (guessed"),
        (b"a#b\n1.5#2\n", "comma-separated, UTF-8 (guessed"),
    ],
)
def test_a_guess_is_told_unless_it_is_the_ordinary_one(tmp_path, contents, told):
    path = tmp_path / "t.csv"
    path.write_bytes(contents)
    notes = read(path)[1]
    assert len(notes) == (told is not None)
    assert all(note.startswith(f"t.csv is read as {told}") for note in notes)


def test_what_was_said_is_not_told_again(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1,5;2\n")
    assert read(tmp_path / "t.csv", sep=";", decimal=",")[1] == []


def test_columns_that_only_some_files_of_a_folder_have_are_told(tmp_path):
    folder = tmp_path / "t"
    (folder / "year=2020").mkdir(parents=True)
    pq.write_table(pa.table({"a": [1], "b": ["x"]}), folder / "year=2020" / "1.parquet")
    pq.write_table(pa.table({"b": ["y"], "a": [2]}), folder / "2.parquet")
    assert guesses(folder) == []
    pq.write_table(pa.table({"a": [3]}), folder / "3.parquet")
    told = "Column 'b' is not in 1 of 3 files of t; it is missing in their rows."
    assert guesses(folder) == [told]
    assert guesses(folder / "3.parquet") == []
    pq.write_table(pa.table({f"c{k}": [1] for k in range(6)}), folder / "4.parquet")
    notes = guesses(folder)
    assert len(notes) == 6
    assert notes[-1] == "3 more columns are in some files only."
