import dataclasses

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairsmooth.data.encoding import TableEncoder
from fairsmooth.exceptions import InputError


def one_column(values, **settings):
    return TableEncoder.learn(pd.DataFrame({"c": values}), **settings)


def encode(encoder, values):
    return encoder.transform(pd.DataFrame({"c": values})).to_numpy()


def test_categories_agree_with_scikit_learn():
    random = np.random.default_rng(0)
    table = pd.DataFrame({name: random.choice(list("abcde"), 200) for name in ("first", "second")})
    expected = OneHotEncoder(sparse_output=False).fit_transform(table)
    np.testing.assert_array_equal(TableEncoder.learn(table).transform(table), expected)


def test_standardised_agrees_with_scikit_learn():
    table = pd.DataFrame({"c": np.random.default_rng(0).normal(5.0, 3.0, 100)})
    encoder = TableEncoder.learn(table, numeric="standardised")
    assert encoder.feature_names == ["c"]
    np.testing.assert_allclose(
        encoder.transform(table), StandardScaler().fit_transform(table), atol=1e-12
    )


def test_edges_of_continuous_values_are_their_quantiles():
    values = np.random.default_rng(0).normal(size=1000)
    (rule,) = one_column(values, n_bins=8).rules
    expected = np.quantile(values, np.arange(1, 8) / 8, method="inverted_cdf")
    np.testing.assert_array_equal(rule.edges, expected)
    assert (encode(one_column(values, n_bins=8), values).sum(axis=0) == 125).all()


def test_a_value_that_fills_a_bin_has_one_to_itself():
    values = np.r_[np.zeros(900), np.arange(-50, 0), np.arange(1, 51)]
    encoder = one_column(values, n_bins=4)
    alone = encode(encoder, [0.0])[0]
    same_bin = (encode(encoder, values) == alone).all(axis=1)
    np.testing.assert_array_equal(same_bin, values == 0)
    # The quantiles are those of the 100 other rows: 25 rows in each of 4 bins.
    assert sorted(encode(encoder, values).sum(axis=0)) == [25, 25, 25, 25, 900]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=12, max_size=60),
    st.integers(3, 12),
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20),
)
def test_every_finite_number_falls_into_exactly_one_interval(values, n_bins, new):
    if len(set(values)) < 3:
        values = [*values, 1.0, 2.0, 3.0]
    encoder = one_column(values, n_bins=n_bins)
    encoded = encode(encoder, new)
    assert (encoded.sum(axis=1) == 1).all()
    order = np.argsort(new, kind="stable")
    assert (np.diff(encoded[order].argmax(axis=1)) >= 0).all()
    # No interval is empty in training.
    assert (encode(encoder, values).sum(axis=0) > 0).all()


def test_few_different_numbers_are_kept_apart_and_ordered():
    encoder = one_column([0, 1, 2, 5] * 3)
    assert encoder.feature_names == ["c<=0", "0<c<=1", "1<c<=2", "c>2"]
    np.testing.assert_array_equal(encode(encoder, [5, 0, 99]).argmax(axis=1), [3, 0, 3])


@pytest.mark.parametrize(
    ("values", "names", "upper"),
    [
        ([0, 1, 1], ["c"], 1),
        ([True, False, True], ["c"], True),
        ([2.5, 7.0, 7.0], ["c>2.5"], 7.0),
        (["no", "yes", "no"], ["c=yes"], "yes"),
    ],
)
def test_two_values_make_one_indicator(values, names, upper):
    encoder = one_column(values)
    assert encoder.feature_names == names
    np.testing.assert_array_equal(encode(encoder, values)[:, 0], np.array(values) == upper)


def test_flags_are_left_as_they_are_by_both_treatments_of_numbers():
    table = pd.DataFrame({"a": [0, 1, 0, 1], "b": [1.0, 1.0, 0.0, 0.0]})
    for numeric in ("binned", "standardised"):
        pd.testing.assert_frame_equal(
            TableEncoder.learn(table, numeric=numeric).transform(table), table.astype(float)
        )


def test_constant_columns_are_dropped_and_then_not_needed():
    table = pd.DataFrame({"k": [1, 1], "gap": [None, None], "t": ["a", "a"], "c": ["x", "y"]})
    encoder = TableEncoder.learn(table)
    assert encoder.columns == ["c"]
    assert encoder.transform(pd.DataFrame({"c": ["y"]})).shape == (1, 1)


def test_missing_category_has_its_own_indicator_if_training_had_one():
    encoder = one_column(["a", None, "b"])
    assert encoder.feature_names == ["c=a", "c=b", "c is missing"]
    np.testing.assert_array_equal(encode(encoder, [np.nan, "b"]), [[0, 0, 1], [0, 1, 0]])


def test_missing_category_that_training_did_not_have():
    encoder = one_column(["a", "b", "d"])
    with pytest.raises(InputError, match=r"every row of column 'c', as in training, got 2 missing"):
        encode(encoder, ["a", None, None])
    ignoring = dataclasses.replace(encoder, unknown="ignore")
    np.testing.assert_array_equal(encode(ignoring, ["a", None]), [[1, 0, 0], [0, 0, 0]])


def test_new_category_names_column_value_and_choices():
    encoder = one_column(list("abd"))
    with pytest.raises(InputError, match=r"column 'c' .*\('a', 'b', 'd'\), got 'e', 'f'\. Correct"):
        encode(encoder, list("fae"))
    ignoring = one_column(list("abd"), unknown="ignore")
    np.testing.assert_array_equal(encode(ignoring, ["e", "b"]), [[0, 0, 0], [0, 1, 0]])


def test_long_lists_of_categories_are_cut_in_messages():
    encoder = one_column([f"v{k}" for k in range(9)])
    with pytest.raises(InputError, match=r"'v4' and 4 more\), got 'new'"):
        encode(encoder, ["new"])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_must_be_finite_in_training_and_later(bad):
    match = r"finite numbers in column 'c', got 2 missing, infinite .* in row 1\)"
    with pytest.raises(InputError, match=match):
        one_column([1.0, bad, bad, 2.0])
    with pytest.raises(InputError, match=match):
        encode(one_column([1.0, 2.0, 3.0]), [1.0, bad, bad])


def test_text_where_numbers_were_learned():
    encoder = one_column([1, 2, 3])
    np.testing.assert_array_equal(encode(encoder, ["2", "3"]), encode(encoder, [2, 3]))
    with pytest.raises(InputError, match=r"column 'c', got 1 .*the first is abc in row 1"):
        encode(encoder, ["2", "abc"])


def test_numbers_too_large_to_standardise():
    encoder = one_column([1.25, 1.5, 1.75], numeric="standardised")
    with pytest.raises(InputError, match=r"near 1\.5 in column 'c', .* got one too large, 1e\+308"):
        encode(encoder, [1e308])


def test_huge_numbers_are_standardised_without_overflow():
    values = np.array([1e308, -1e308, 5e307])
    np.testing.assert_allclose(
        encode(one_column(values, numeric="standardised"), values)[:, 0],
        StandardScaler().fit_transform((values / 1e308)[:, None])[:, 0],
    )


def test_missing_column_suggests_near_names_and_extra_columns_are_ignored():
    encoder = TableEncoder.learn(pd.DataFrame({"education": ["a", "b"], "age": [1, 2]}))
    with pytest.raises(InputError, match=r"named 'education' in the table.*mean 'educaton'"):
        encoder.transform(pd.DataFrame({"educaton": ["a"], "age": [1]}))
    wide = pd.DataFrame({"zip": ["x"], "age": [2], "education": ["a"]})
    np.testing.assert_array_equal(encoder.transform(wide), [[0.0, 1.0]])


def test_chosen_columns_only():
    table = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": ["x", "y"]})
    assert TableEncoder.learn(table, columns=["c", "a"]).columns == ["c", "a"]
    with pytest.raises(InputError, match="named 'd' in the table"):
        TableEncoder.learn(table, columns=["d"])


EQUIVALENT = [
    pytest.param([1, 2, 3, 3], [pd.array([1, 2, 3, 3], "Int64"), np.array([1, 2, 3, 3], "u1")]),
    pytest.param(
        [0.5, 1.5, 2.5],
        [
            pd.array([0.5, 1.5, 2.5], "Float64"),
            np.array([0.5, 1.5, 2.5], "f4"),
            np.array([0.5, 1.5, 2.5], object),
            pd.array([0.5, 1.5, 2.5], pd.ArrowDtype(pa.float64())),
        ],
    ),
    pytest.param(
        [True, False, True],
        [
            pd.array([True, False, True], "boolean"),
            np.array([True, False, True], object),
            pd.array([True, False, True], pd.ArrowDtype(pa.bool_())),
            [1, 0, 1],
        ],
    ),
    pytest.param(
        ["x", None, "y"],
        [
            np.array(["x", None, "y"], object),
            np.array(["x", np.nan, "y"], object),
            pd.array(["x", pd.NA, "y"], "string"),
            pd.array(["x", pd.NA, "y"], pd.ArrowDtype(pa.string())),
            pd.Categorical(["x", None, "y"], categories=["unused", "y", "x"]),
        ],
    ),
]


@pytest.mark.parametrize(("values", "others"), EQUIVALENT)
def test_the_type_that_holds_the_values_does_not_matter(values, others):
    reference = one_column(values)
    for other in others:
        assert one_column(other) == reference
        np.testing.assert_array_equal(encode(reference, other), encode(reference, values))


def test_numeric_categories_survive_a_change_of_file_format():
    encoder = one_column(pd.Categorical([1, 2, 3]))
    for values in ([3, 1], [3.0, 1.0], ["3", "1"], pd.Categorical([3, 1])):
        np.testing.assert_array_equal(encode(encoder, values), [[0, 0, 1], [1, 0, 0]])


def test_categories_with_the_same_text_are_one():
    encoder = one_column(np.array([1, "1", "2", "3"], dtype=object))
    assert encoder.feature_names == ["c=1", "c=2", "c=3"]


def test_true_or_false_with_gaps_is_a_category():
    encoder = one_column(pd.array([True, False, None], "boolean"))
    assert encoder.feature_names == ["c=False", "c=True", "c is missing"]


@pytest.mark.parametrize(
    ("values", "match"),
    [
        (pd.date_range("2020-01-01", periods=2), "in column 'c', got datetime64"),
        ([1 + 2j, 3j], "in column 'c', got complex128"),
        ([b"a", b"b"], "in column 'c', got bytes"),
        ([[1], [2]], r"column 'c', got values that cannot be compared"),
    ],
)
def test_columns_of_other_kinds(values, match):
    with pytest.raises(InputError, match=match):
        one_column(values)


def test_identifiers_are_refused():
    with pytest.raises(InputError, match=r"at most 100 categories in column 'c', got 101\. Drop"):
        one_column([f"p{k}" for k in range(101)])
    assert len(one_column([f"p{k}" for k in range(101)], max_categories=101).feature_names) == 101


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        (np.eye(2), "Expected a pandas DataFrame, got ndarray"),
        (pd.DataFrame(), "table with rows and columns, got shape"),
        (pd.DataFrame({"c": []}), "table with rows and columns, got shape"),
        (pd.DataFrame({"c": [1, 1]}), "a column with more than one value, found none"),
        (pd.DataFrame([[1, 2]], columns=["c", "c"]), "column name once, got 'c' twice"),
        (pd.DataFrame({1: [1, 2], "1": [3, 4]}), "column name once, got '1' twice"),
        (
            pd.DataFrame({"a": ["b=c", "d", "e"], "a=b": ["c", "d", "e"]}),
            "column name once, got 'a=b=c' twice",
        ),
    ],
)
def test_tables_that_cannot_be_learned_from(frame, match):
    with pytest.raises(InputError, match=match):
        TableEncoder.learn(frame)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"numeric": "scaled"}, "numeric to be one of 'binned', 'standardised'"),
        ({"unknown": "drop"}, "unknown to be one of 'error', 'ignore'"),
        ({"n_bins": 1}, "n_bins to be an integer >= 2, got n_bins=1"),
        ({"max_categories": 2.5}, "max_categories to be an integer >= 2, got"),
    ],
)
def test_settings(settings, match):
    with pytest.raises(InputError, match=match):
        one_column([1, 2], **settings)


def test_rows_keep_their_index_and_no_rows_give_no_rows():
    encoder = one_column(["a", "b", "d"])
    frame = pd.DataFrame({"c": ["a", "d"]}, index=[7, 3])
    assert list(encoder.transform(frame).index) == [7, 3]
    empty = encoder.transform(frame.iloc[:0])
    assert empty.shape == (0, 3)
    assert empty.to_numpy().dtype == np.float64


def test_input_is_not_altered():
    frame = pd.DataFrame({"c": ["a", None], "n": [1, 2]})
    before = frame.copy(deep=True)
    TableEncoder.learn(frame).transform(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_relearn_keeps_the_settings():
    encoder = one_column(range(50), n_bins=5, numeric="standardised", unknown="ignore")
    again = encoder.relearn(pd.DataFrame({"c": range(100)}))
    assert again == one_column(range(100), n_bins=5, numeric="standardised", unknown="ignore")
