from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.roles import (
    Roles,
    known_label_codes,
    label_codes,
    not_features,
    require_columns,
    sensitive_frame,
    usable_rows,
    with_bands,
)
from fairsmooth.exceptions import InputError

ROLES = Roles("y", ("sex",))


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        ([0, 1], "1"),
        ([1.0, 0.0], "1"),
        ([-1, 1], "1"),
        (["no", "yes"], "yes"),
        (["Yes", "No"], "Yes"),
        ([True, False], "True"),
        (["TRUE", "FALSE"], "True"),
        (["N", "Y"], "Y"),
        (["t", "f"], "t"),
    ],
)
def test_unmistakable_labels_need_no_positive_value(values, positive):
    codes, pair = label_codes(pd.Series(values), ROLES)
    assert pair[1] == positive
    assert codes.tolist() == [int(str(v).lower() in positive.lower() or v == 1) for v in values]


def test_other_labels_need_one():
    column = pd.Series(["denied", "approved", "denied"])
    with pytest.raises(InputError, match=r"positive to be named for 'y'.* 'approved' and 'denied'"):
        label_codes(column, ROLES)
    codes, pair = label_codes(column, replace(ROLES, positive="denied"))
    assert (codes.tolist(), pair) == ([1, 0, 1], ("approved", "denied"))
    with pytest.raises(InputError, match=r"positive to be one of \['approved', 'denied'\].*'ok'"):
        label_codes(column, replace(ROLES, positive="ok"))


@pytest.mark.parametrize("positive", ["2", 2, 2.0, " 2 "])
def test_positive_is_compared_by_its_normal_text(positive):
    codes, pair = label_codes(pd.Series([1, 2]), replace(ROLES, positive=positive))
    assert (codes.tolist(), pair) == ([0, 1], ("1", "2"))


def test_labels_that_are_not_two():
    with pytest.raises(InputError, match="2 values in 'y', got no row that can be used"):
        label_codes(pd.Series([], dtype=object), ROLES)
    with pytest.raises(InputError, match="2 values in 'y', got 1: 'a'"):
        label_codes(pd.Series(["a", "a"]), ROLES)
    with pytest.raises(InputError, match=r"2 values in 'y', got 6: '1', .*, …"):
        label_codes(pd.Series(range(1, 7)), ROLES)
    with pytest.raises(InputError, match="label in every row of 'y', got 1 missing"):
        label_codes(pd.Series([0, 1, None]), ROLES)


def test_known_labels_are_compared_by_their_normal_text():
    notes = {"label": "y", "negative": 0, "positive": 1}  # as in files of format 1
    for values in ([1, 0], ["1", "0"], [1.0, 0.0]):
        assert known_label_codes(pd.Series(values), notes).tolist() == [1, 0]
    with pytest.raises(InputError, match=r"labels '0' and '1' in 'y', got \['2'\]"):
        known_label_codes(pd.Series([1, 2]), notes)
    with pytest.raises(InputError, match=r"labels '0' and '1' in 'y', got a missing one"):
        known_label_codes(pd.Series([1, None]), notes)


def test_rows_without_label_or_group_are_left_out_with_a_count():
    table = pd.DataFrame({"y": [1, 0, None, 1], "sex": ["f", "?", "m", "n/a"]})
    usable, notes = usable_rows(table, ROLES)
    assert usable.tolist() == [True, False, False, False]
    assert notes == [
        "1 row has no label in 'y' and is left out (the first is row 3).",
        "2 rows have no sensitive value in 'sex' and are left out (the first is row 2).",
    ]
    with pytest.raises(InputError, match=r"label in every row of 'y', got 1 missing .*row 3"):
        usable_rows(table, ROLES, strict=True)
    with pytest.raises(InputError, match=r"sensitive value .* of 'sex', got 2 missing .*row 2"):
        usable_rows(table.assign(y=1), ROLES, strict=True)
    assert usable_rows(table.iloc[:1], ROLES, strict=True)[1] == []


def test_groups_are_normal_texts_and_bands():
    table = pd.DataFrame({"y": 1, "code": [1, 2.0, 1], "age": [20, 40, None]}, index=[5, 6, 7])
    roles = with_bands(Roles("y", ("code", "age:2")), table)
    assert roles.sensitive == ("code", "age")
    groups = sensitive_frame(table, roles)
    assert groups["code"].tolist() == ["1", "2", "1"]
    assert groups["age"].tolist() == ["age<=20", "age>20", None]
    assert groups.index.tolist() == [5, 6, 7]
    with pytest.raises(InputError, match="named 'years' in the table"):
        with_bands(Roles("y", ("years:2",)), table)


def test_columns_that_must_be_there_and_those_that_are_no_features():
    table = pd.DataFrame({name: [1] for name in ("y", "sex", "age", "id", "z", "x")})
    roles = Roles("y", ("sex", "age:4"), ids=("id",), drop=("z",))
    require_columns(table, roles)
    assert not_features(table, roles) == ["y", "sex", "age", "z", "id"]
    assert not_features(table, replace(roles, include_sensitive=True)) == ["y", "z", "id"]
    with pytest.raises(InputError, match="named 'customer' in the table"):
        require_columns(table, replace(roles, ids=("customer",)))
    with pytest.raises(InputError, match="label and sensitive columns to differ, got 'y' twice"):
        require_columns(table, replace(roles, sensitive=("y",)))
    with pytest.raises(InputError, match=r"every sensitive column once, got \['age', 'age'\]"):
        require_columns(table, replace(roles, sensitive=("age", "age:4")))
    with pytest.raises(InputError, match="at least one column to predict from"):
        not_features(table, replace(roles, drop=("x", "z")))


def test_codes_are_the_same_from_every_type():
    roles = replace(ROLES, positive="1")
    reference = np.array([0, 1, 1])
    for values in ([0, 1, 1], ["0", "1", "1.0"], [0.0, 1.0, 1.0], pd.Categorical([0, 1, 1])):
        np.testing.assert_array_equal(label_codes(pd.Series(values), roles)[0], reference)
