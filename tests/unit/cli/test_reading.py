import pytest

from fairsmooth.cli.reading import read


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
