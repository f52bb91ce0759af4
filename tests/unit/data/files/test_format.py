import pytest

from fairsmooth.data.files import describe_format, read_table

GUESSED = " (guessed from the first 64 KiB; --sep and --decimal force it)"


def written(folder, text, name="t.csv"):
    path = folder / name
    path.write_text(text, newline="")
    return path


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("a,b\n1,2\n", "t.csv", "comma-separated, UTF-8"),
        ("a;b\n1,5;2\n", "t.csv", "semicolon-separated, decimal comma, UTF-8"),
        ("a;b\n1,500;2\n", "t.csv", "semicolon-separated, decimal comma, UTF-8"),
        ("a;b\n1.5;2\n", "t.csv", "semicolon-separated, UTF-8"),
        ("a\tb\n1,5\t2\n", "t.tsv", "tab-separated, decimal comma, UTF-8"),
        ("a\tb\n1,500\t2\n", "t.tsv", "tab-separated, UTF-8"),
        ("a\tb\n1\t2\n", "t.txt", "tab-separated, UTF-8"),
        ("a|b\n1|2\n", "t.csv", "bar-separated, UTF-8"),
        ("a;b\nx, y;1\nu, v;2\n", "t.csv", "semicolon-separated, UTF-8"),
        ('a,b\n"x;y",1\n"u;v;w",2\n', "t.csv", "comma-separated, UTF-8"),
        ("a;b,c;d\n1;2;3\n4;5;6\n", "t.csv", "semicolon-separated, UTF-8"),
        ("alone\n1\n", "t.csv", "comma-separated, UTF-8"),
        ("a;b\n", "t.csv", "semicolon-separated, UTF-8"),
        ("a;b\n31.12.2024;1,5\n", "t.csv", "semicolon-separated, decimal comma, UTF-8"),
    ],
)
def test_what_is_sniffed_is_said(tmp_path, text, name, said):
    assert str(describe_format(written(tmp_path, text, name))) == said + GUESSED


def test_what_is_forced_is_not_sniffed(tmp_path):
    path = written(tmp_path, "a;b\n1,5;2\n")
    forced = describe_format(path, sep=",", decimal=".")
    assert (forced.columns, forced.sniffed) == (("a;b",), False)
    assert str(forced) == "comma-separated, UTF-8"
    assert str(describe_format(path, sep="#", decimal=".")) == "'#'-separated, UTF-8"
    assert describe_format(path, sep=";").sniffed
    quoted = written(tmp_path, 'a,b\n"1,5",2\n', "quoted.csv")
    assert read_table(quoted).to_dict("list") == {"a": ["1,5"], "b": [2]}
    assert read_table(quoted, decimal=",").to_dict("list") == {"a": [1.5], "b": [2]}


def test_points_are_no_numbers_where_the_comma_is_the_decimal_mark(tmp_path):
    path = written(tmp_path, "a;b;d\n1.234;1,5;x\n2.345;2;1,5\n")
    assert read_table(path).to_dict("list") == {
        "a": ["1.234", "2.345"], "b": [1.5, 2.0], "d": ["x", "1.5"],
    }  # fmt: skip


def test_a_header_longer_than_the_sample(tmp_path):
    names = [f"column number {k}" for k in range(9000)]
    path = written(tmp_path, ";".join(names) + "\n" + ";".join(["1"] * 9000) + "\n")
    assert describe_format(path).columns == tuple(names)
    assert read_table(path).shape == (1, 9000)


def test_the_sample_ends_between_records(tmp_path):
    row = 'x;"a\nb";1,5\n'
    path = written(tmp_path, "p;q;r\n" + row * 9000)
    assert read_table(path)["r"].sum() == 13_500
