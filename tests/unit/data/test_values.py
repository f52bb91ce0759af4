import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.values import moments, normal_codes, normal_text, normal_texts, numbers
from fairsmooth.exceptions import InputError


@pytest.mark.parametrize(
    ("alike", "text"),
    [
        ([1, 1.0, "1", " 1.0", "+1", "1e0", np.int8(1), decimal.Decimal("1.00")], "1"),
        ([0.5, "0.5", ".5", "0.50", "5e-1", decimal.Decimal("0.5")], "0.5"),
        ([0, 0.0, -0.0, "-0", "-0.0", "0.0"], "0"),
        ([True, "true", "TRUE", "True ", np.True_], "True"),
        ([False, "false"], "False"),
        (["01"], "01"),
        (["1,5"], "1,5"),
        (["male", "male ", "\tmale\n"], "male"),
        (["Male"], "Male"),
        (["None"], "None"),
        (["1_0"], "1_0"),
        ([12345678901234567890, "12345678901234567890"], "12345678901234567890"),
        ([1e20, "1e20"], "100000000000000000000"),
        ([float("inf"), "inf", "Infinity"], "inf"),
        (
            [
                pd.Timestamp("2024-12-31"), datetime.date(2024, 12, 31), "2024-12-31",
                np.datetime64("2024-12-31"), "2024/12/31", "31.12.2024", "2024-12-31 00:00:00",
                "2024-12-31T00:00Z", pd.Timestamp("2024-12-31 01:00", tz="Europe/Berlin"),
            ],
            "2024-12-31",
        ),
        (["2024-12-31T10:30", pd.Timestamp("2024-12-31 10:30")], "2024-12-31T10:30:00"),
        (["2024-02-31"], "2024-02-31"),
        ([None, float("nan"), np.nan, pd.NA, pd.NaT, "", " ", "n/a", "NA", "?", "null"], None),
    ],
)  # fmt: skip
def test_values_with_one_meaning_have_one_text(alike, text):
    assert [normal_text(value) for value in alike] == [text] * len(alike)


def test_codes_merge_values_of_one_text():
    column = pd.Series([1, "1", 1.0, "x", None, "n/a", True, "true"], dtype=object)
    codes, texts = normal_codes("c", column)
    assert [None if code < 0 else texts[code] for code in codes] == [
        *("1", "1", "1", "x", None, None), "True", "True",
    ]  # fmt: skip
    assert normal_texts("c", pd.Series(["a", None])).tolist() == ["a", None]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1.5, np.nan, np.inf]),
        pd.Series(["1.5", "-", "abc"]),
        pd.Series(["1.5", "None", "inf"], dtype="category"),
        pd.Series([1.5, None, "1_5"], dtype=object),
        pd.Series([1.5, None, 10**400], dtype=object),
    ],
)
def test_numbers_missing_and_wrong(column):
    read = numbers("c", column)
    assert read.values.tolist() == [1.5, 0.0, 0.0]
    assert read.missing.tolist() == [False, True, False]
    assert read.wrong.tolist() == [False, False, True]


def test_moments_missing_and_wrong():
    read = moments("c", pd.Series(["2024-12-31", "?", "soon", None, "-"]))
    assert read.missing.tolist() == [False, True, False, True, True]
    assert read.wrong.tolist() == [False, False, True, False, False]
    assert read.values[0] == np.datetime64("2024-12-31")


def test_lists_are_no_values():
    with pytest.raises(InputError, match="in column 'c', got values that cannot be compared"):
        normal_codes("c", pd.Series([[1], [2]]))
