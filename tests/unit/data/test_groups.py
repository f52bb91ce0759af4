import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.groups import encode_groups, match_groups, require_trainable
from fairsmooth.exceptions import GroupError, InputError


@pytest.mark.parametrize(
    "column",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.DataFrame({"g": ["b", "a", "b"]}),
        np.array([["b"], ["a"], ["b"]], dtype=object),
    ],
)
def test_any_container_gives_the_same_groups(column):
    groups = encode_groups(column, n_rows=3)
    assert groups.labels == ("a", "b")
    assert groups.codes.tolist() == [1, 0, 1]
    assert groups.counts.tolist() == [1, 2]
    assert [rows.tolist() for rows in groups.rows()] == [[1], [0, 2]]


def test_labels_are_plain_python_values_of_any_type():
    assert encode_groups(np.array([True, False]), n_rows=2).labels == (False, True)
    assert encode_groups(np.array([2, 10]), n_rows=2).labels == (10, 2)  # sorted by text
    assert type(encode_groups(np.array([2, 10]), n_rows=2).labels[0]) is int


def test_several_columns_make_intersectional_groups():
    frame = pd.DataFrame({"sex": ["f", "m", "f"], "old": [True, True, False]})
    groups = encode_groups(frame, n_rows=3)
    assert groups.labels == (("f", False), ("f", True), ("m", True))
    assert groups.codes.tolist() == [1, 2, 0]


def test_known_groups_are_matched_in_the_model_s_order():
    groups = match_groups(["b", "b"], ("a", "b"), n_rows=2)
    assert groups.codes.tolist() == [1, 1]
    assert groups.counts.tolist() == [0, 2]
    with pytest.raises(GroupError, match=r"\['a', 'b'\], got \['c'\]"):
        match_groups(["c"], ("a", "b"), n_rows=1)


def test_groups_with_the_same_normal_text_are_matched():
    assert match_groups(["1", "0", 1.0], (0, 1), n_rows=3).codes.tolist() == [1, 0, 1]
    pairs = pd.DataFrame({"sex": ["f", "m"], "old": ["True", "False"]})
    known = (("f", True), ("m", False))
    assert match_groups(pairs, known, n_rows=2).codes.tolist() == [0, 1]
    # Equal labels come first where several have one text.
    assert match_groups(["1", "1"], (1, "1"), n_rows=2).codes.tolist() == [1, 1]


def test_refuses_what_is_missing_or_misshapen():
    with pytest.raises(
        InputError, match="Expected sensitive_features, one label per row, got None"
    ):
        encode_groups(None, n_rows=2)
    with pytest.raises(InputError, match=r"one entry per row of X \(3\), got 2"):
        encode_groups(["a", "b"], n_rows=3)
    with pytest.raises(InputError, match=r"got 1 missing \(first at row 1\)"):
        encode_groups(pd.Series(["a", None]), n_rows=2)
    with pytest.raises(InputError, match=r"got an array of shape \(\)"):
        encode_groups("a", n_rows=1)


def test_refuses_groups_that_cannot_carry_a_classifier():
    y = np.array([0, 1, 0, 1, 1])
    require_trainable(encode_groups(list("aabbb"), n_rows=5), y)
    with pytest.raises(GroupError, match=r"at least 2 groups .* got 1 \('a'\)"):
        require_trainable(encode_groups(list("aaaaa"), n_rows=5), y)
    with pytest.raises(GroupError, match=r"'b' with one class only: 2 positive of 2 rows"):
        require_trainable(encode_groups(list("aaabb"), n_rows=5), y)
    with pytest.raises(GroupError, match=r"'b' with too few rows: 1 positive of 1 rows"):
        require_trainable(encode_groups(list("aaaab"), n_rows=5), y)
