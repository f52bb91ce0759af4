import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.frames import as_frame
from fairsmooth.data.notes import sanity_notes
from fairsmooth.data.roles import Roles


def table(n=400, **changes):
    random = np.random.default_rng(0)
    columns = {
        "x": random.normal(size=n).round(2),
        "sex": random.choice(["f", "m"], n),
        "y": random.choice(["no", "yes"], n),
        **{name: make(random, n) for name, make in changes.items()},
    }
    return as_frame(pd.DataFrame(columns))


def noted(frame, sensitive=("sex",)):
    return sanity_notes(frame, Roles("y", sensitive))


def test_a_clean_table_has_none():
    assert noted(table()) == []


@pytest.mark.parametrize(
    ("changes", "sensitive", "expected"),
    [
        (
            {"age": lambda r, n: np.arange(n) % 30},
            ("age",),
            "Sensitive column 'age' has 30 values, each a group of its own. age:4 makes four "
            "quantile bands.",
        ),
        (
            {"town": lambda r, n: [f"town {k % 30}" for k in range(n)]},
            ("town",),
            "Sensitive column 'town' has 30 values, each a group of its own.",
        ),
        (
            {"sex": lambda r, n: np.where(np.arange(n) % 3, "male", "Male")},
            ("sex",),
            "Column 'sex' has 'Male' and 'male', which count as different.",
        ),
        (
            {"sex": lambda r, n: np.where(np.arange(n) % 3, "caf\u00e9", "cafe\u0301")},
            ("sex",),
            r"Column 'sex' has 'cafe\u0301' and 'caf\xe9', which count as different.",
        ),
        (
            {"sex": lambda r, n: np.where(np.arange(n) % 3, "f", "\u200bf")},
            ("sex",),
            r"Column 'sex' has 'f' and '\u200bf', which count as different.",
        ),
        (
            {"customer": lambda r, n: np.arange(n) + 1000},
            ("sex",),
            "Column 'customer' differs in every row, as an identifier does; name it in ids.",
        ),
        (
            {"name": lambda r, n: [f"n{k}" for k in range(n)]},
            ("sex",),
            "Column 'name' differs in every row, as an identifier does; name it in ids.",
        ),
        (
            {"age": lambda r, n: ["old", *map(str, np.arange(n - 1) % 50)]},
            ("sex",),
            "Column 'age' is read as text, not as numbers, because of 'old'.",
        ),
    ],
)
def test_notes(changes, sensitive, expected):
    assert expected in noted(table(**changes), sensitive)


def test_copies_of_the_label_and_of_the_group():
    frame = table()
    frame["outcome"] = (frame["y"] == "yes").astype(int)
    frame["title"] = np.where(frame["sex"] == "f", "Ms", "Mr")
    frame["near"] = np.where(frame.index == 0, "x", frame["title"])
    assert noted(frame) == [
        "Column 'outcome' is a copy of the label 'y': each of its values goes with one of 'y'. "
        "Drop it unless it is known before the outcome.",
        "Column 'title' is a copy of the sensitive column 'sex': predictions can tell the group.",
    ]


def test_few_rows():
    few = noted(table(60))
    assert few[0] == "The table has 60 rows; with fewer than 100, trust little."
    assert "of 4 combinations of group and label have fewer than 20 rows; the smallest is" in few[1]
    frame = table()
    frame.loc[:2, "sex"] = "x"
    (note,) = noted(frame)
    assert "the smallest is x with label" in note


def test_codes_with_leading_zeros_are_no_numbers_gone_wrong():
    frame = table(zip=lambda r, n: [f"{k % 40:03d}" for k in range(n)])
    assert noted(frame) == []


@pytest.mark.parametrize("breaks", [None, 5, 2500])
def test_copies_are_judged_by_all_rows_whatever_the_first_ones_say(breaks):
    """A glance at the first rows may only tell that a column is no copy."""
    label = np.repeat(["no", "yes"], 2000)
    copy = np.where(label == "yes", "Granted", "refused").astype(object)
    # Two spellings of one value are one, as everywhere.
    copy[:3] = "refused "
    if breaks is not None:
        copy[breaks] = "Granted" if label[breaks] == "no" else "refused"
    table = pd.DataFrame({"y": label, "g": np.resize(["a", "b"], 4000), "x": copy})
    notes = sanity_notes(as_frame(table), Roles("y", ("g",)))
    assert any("is a copy of the label" in note for note in notes) is (breaks is None)
