import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.banding import Banding, parse_bands
from fairsmooth.exceptions import InputError


def test_bands_hold_equal_shares_and_are_kept_for_new_rows():
    ages = pd.Series(np.arange(100))
    banding = Banding.learn("age", ages, n_bands=4)
    assert banding.apply(ages).value_counts().tolist() == [25] * 4
    assert banding.apply(pd.Series(["-5", "30", "1000", "n/a"])).tolist() == [
        *("age<=24", "24<age<=49", "age>74", None)
    ]
    assert Banding.from_dict(banding.to_dict()) == banding


def test_fewer_values_than_bands():
    assert Banding.learn("n", pd.Series([1, 1, 1, 2]), n_bands=4).edges == (1.0,)
    assert Banding.learn("n", pd.Series([1, 2, 2, 2]), n_bands=2).edges == (1.0,)


@pytest.mark.parametrize(
    ("values", "n_bands", "match"),
    [
        ([1, 2], 1, "at least 2 bands of column 'c', got 1"),
        (["a", "1"], 2, "numbers in column 'c', to cut it into bands, got 'a' in row 1"),
        ([1, 1, None], 2, "different numbers in column 'c', got one or none"),
        ([None, None], 2, "different numbers in column 'c', got one or none"),
    ],
)
def test_what_has_no_bands(values, n_bands, match):
    with pytest.raises(InputError, match=match):
        Banding.learn("c", pd.Series(values), n_bands=n_bands)


@pytest.mark.parametrize(
    "plain", [{}, {"name": 1, "edges": [1.0]}, {"name": "a", "edges": []}, {"name": "a"}, 3]
)
def test_plain_bands_are_not_trusted(plain):
    with pytest.raises(InputError, match="bands as written by to_dict"):
        Banding.from_dict(plain)


def test_a_column_of_that_name_comes_first():
    assert parse_bands(["a:4"], ["a:4", "a"]) == (("a:4",), {})
    assert parse_bands(["a:b", "c:"], ["a"]) == (("a:b", "c:"), {})
