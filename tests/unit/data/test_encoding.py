import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairsmooth.data.crossed import CrossedEncoder
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
    with pytest.raises(
        InputError, match=r"\('a', 'b', 'd'\), got 'e', 'f' \(the first in row 1\)\. Cor"
    ):
        encode(encoder, list("fae"))
    ignoring = one_column(list("abd"), unknown="ignore")
    np.testing.assert_array_equal(encode(ignoring, ["e", "b"]), [[0, 0, 0], [0, 1, 0]])


def test_long_lists_of_categories_are_cut_in_messages():
    encoder = one_column([f"v{k}" for k in range(9)])
    with pytest.raises(InputError, match=r"'v4' and 4 more\), got 'new'"):
        encode(encoder, ["new"])


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_numbers_must_be_finite_in_training_and_later(bad):
    match = r"finite numbers in column 'c'.* got 2 .*the first in row 2"
    with pytest.raises(InputError, match=match):
        one_column([1.0, bad, bad, 2.0])
    with pytest.raises(InputError, match=match):
        encode(one_column([1.0, 2.0, 3.0]), [1.0, bad, bad])


def test_missing_numbers_are_a_level_if_training_had_some():
    encoder = one_column([1.0, np.nan, 2.0, 3.0])
    assert encoder.feature_names == ["c<=1", "1<c<=2", "c>2", "c is missing"]
    np.testing.assert_array_equal(encode(encoder, [None, 9.0]), [[0, 0, 0, 1], [0, 0, 1, 0]])
    flag = one_column([0, 1, None])
    assert flag.feature_names == ["c<=0", "c>0", "c is missing"]
    only_gaps = one_column([7.0, None, 7.0])
    assert only_gaps.feature_names == ["c is missing"]
    np.testing.assert_array_equal(encode(only_gaps, [None, 7.0]), [[1], [0]])


def test_a_missing_standardised_number_counts_as_the_mean():
    encoder = one_column([1.0, 2.0, 3.0, None], numeric="standardised")
    assert encoder.feature_names == ["c", "c is missing"]
    np.testing.assert_array_equal(encode(encoder, [None, 2.0]), [[0, 1], [0, 0]])


def test_missing_numbers_that_training_did_not_have():
    for numeric in ("binned", "standardised"):
        encoder = one_column([1.0, 2.0, 3.0], numeric=numeric)
        with pytest.raises(InputError, match=r"every row of column 'c'.* 2 missing .*in row 42\)"):
            encoder.transform(pd.DataFrame({"c": [1.0, np.nan, np.nan]}), offset=40)


def test_text_where_numbers_were_learned():
    encoder = one_column([1, 2, 3])
    np.testing.assert_array_equal(encode(encoder, ["2", "3"]), encode(encoder, [2, 3]))
    with pytest.raises(InputError, match=r"column 'c', .* got 1 that .*in row 2: 'abc'\)"):
        encode(encoder, ["2", "abc"])


def test_numbers_too_large_to_standardise():
    encoder = one_column([1.25, 1.5, 1.75], numeric="standardised")
    with pytest.raises(
        InputError, match=r"column 'c'.* one too large to scale .* row 1: 1e\+308\)"
    ):
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
    encoder = one_column(np.array([1, "1", 1.0, "2", "x"], dtype=object))
    assert encoder.feature_names == ["c=1", "c=2", "c=x"]


def test_text_that_reads_as_numbers_is_numbers_as_from_a_file():
    assert one_column(["1", "2", "3", "?"]) == one_column([1, 2, 3, None])
    assert one_column(["01", "1", "2"]).feature_names == ["c=01", "c=1", "c=2"]


def test_true_or_false_with_gaps_is_a_category():
    encoder = one_column(pd.array([True, False, None], "boolean"))
    assert encoder.feature_names == ["c=False", "c=True", "c is missing"]


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([1 + 2j, 3j], "in column 'c', got complex128"),
        ([b"a", b"b"], "in column 'c', got bytes"),
        ([[1], [2]], r"column 'c', got lists"),
        ([{"a": 1}, {"a": 2}], r"column 'c', got lists"),
        ([pd.Timedelta(1), pd.Timedelta(2)], r"column 'c', got timedelta"),
    ],
)
def test_columns_of_other_kinds(values, match):
    with pytest.raises(InputError, match=match):
        one_column(values)


def test_values_that_cannot_be_compared():
    with pytest.raises(InputError, match="column 'c', got values that cannot be compared"):
        encode(one_column(["a", "b", "d"]), [["a"], ["b"]])


def test_identifiers_are_left_out_with_a_note():
    table = pd.DataFrame({"id": [f"p{k}" for k in range(101)], "c": np.arange(101) % 3})
    encoder = TableEncoder.learn(table)
    assert encoder.columns == ["c"]
    assert encoder.notes == (
        "Column 'id' looks like an identifier (101 different texts in 101 rows) and is left out.",
    )
    assert len(TableEncoder.learn(table, max_categories=101).feature_names) == 104


def test_too_many_categories_are_merged_into_other():
    values = ["a"] * 5 + ["b"] * 3 + ["d", "e", "f", "g"] + [None]
    encoder = one_column(values, max_categories=3)
    assert encoder.feature_names == ["c=a", "c=b", "c is missing", "c is other"]
    assert encoder.notes == (
        "Column 'c' has 6 categories; all but the 2 most frequent count as one, 'other'.",
    )
    np.testing.assert_array_equal(
        encode(encoder, ["b", "g", "new", None]).argmax(axis=1), [1, 3, 3, 2]
    )


def test_columns_left_out_are_noted():
    table = pd.DataFrame({"k": [1, 1], "gap": [None, None], "t": ["a", "a"], "c": ["x", "y"]})
    assert TableEncoder.learn(table).notes == (
        "Column 'k' has one value in all rows and is left out.",
        "Column 'gap' has no values and is left out.",
        "Column 't' has one value in all rows and is left out.",
    )


def test_dates_become_year_month_and_weekday():
    dates = ["2020-01-06", "2021-01-05", "2021-03-05"]
    encoder = one_column(pd.to_datetime(dates))
    assert encoder.feature_names == [
        "c year>2020", "c month>1", "c weekday<=0", "0<c weekday<=1", "c weekday>1",
    ]  # fmt: skip
    expected = [[0, 0, 1, 0, 0], [1, 0, 0, 1, 0], [1, 1, 0, 0, 1]]
    for same in (dates, pd.to_datetime(dates), pd.to_datetime(dates, utc=True)):
        np.testing.assert_array_equal(encode(encoder, same), expected)
    assert one_column(dates) == encoder
    assert encoder.columns == ["c"]
    with pytest.raises(InputError, match=r"dates in column 'c'.* not a date .* row 2: 'soon'"):
        encode(encoder, ["2020-01-06", "soon"])


def test_dates_with_gaps():
    encoder = one_column(["2020-01-06", None, "2021-01-05"])
    assert [name for name in encoder.feature_names if "missing" in name] == [
        "c year is missing",
        "c weekday is missing",
    ]
    assert encode(encoder, [None]).sum() == 2
    constant = one_column(["2020-01-06", None])
    assert constant.feature_names == ["c year is missing"]


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        (np.eye(2), r"Expected a table \(pandas, polars, .* got ndarray"),
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


def test_rows_that_cannot_be_encoded_have_reasons_and_zeros():
    training = pd.DataFrame({"age": [20, 30, 40], "job": ["a", "b", "d"], "on": ["2020-01-01"] * 3})
    training.loc[0, "on"] = "2021-01-01"
    encoder = TableEncoder.learn(training)
    rows = pd.DataFrame(
        {
            "age": ["20", "abc", None, "inf", "30"],
            "job": ["a", "b", "x", None, "b"],
            "on": ["2020-01-01", "2020-01-01", "soon", "2020-01-01", "2021-01-01"],
        }
    )
    encoded, reasons = encoder.transform_rows(rows)
    assert reasons.tolist() == [
        None,
        "age is 'abc', not a finite number",
        "age is missing, which no row was in training; job is 'x', not seen in training; "
        "on is 'soon', not a date",
        "age is 'inf', not a finite number; job is missing, which no row was in training",
        None,
    ]
    assert (encoded.to_numpy()[[1, 2, 3]] == 0).all()
    good = rows.iloc[[0, 4]]
    pd.testing.assert_frame_equal(encoded.iloc[[0, 4]], encoder.transform(good))
    ignoring = dataclasses.replace(encoder, unknown="ignore")
    assert ignoring.transform_rows(rows.assign(age=20, on="2020-01-01"))[1].tolist() == [None] * 5


def test_codes_are_the_primitive_of_what_is_written():
    table = pd.DataFrame({"n": range(30), "t": list("abd") * 10})
    encoder = TableEncoder.learn(table)
    for rule in encoder.rules:
        codes = rule.codes(table[rule.name])
        assert codes.dtype == np.int8
        written = encoder.transform(table)[rule.feature_names].to_numpy()
        np.testing.assert_array_equal(written.argmax(axis=1), codes)


@pytest.mark.parametrize("learn", [TableEncoder.learn, CrossedEncoder.learn])
def test_a_table_comes_back_in_the_library_it_came_in(learn):
    columns = {"age": [20, 30, 40, 50], "job": ["clerk", "nurse", None, "clerk"]}
    frame = pd.DataFrame(columns)
    encoder = learn(frame)
    expected = encoder.transform(frame)
    kinds = {pl.DataFrame: pl.DataFrame, pa.table: pa.Table}
    for made, kind in kinds.items():
        table = made(columns)
        assert learn(table) == encoder
        found, reasons = encoder.transform_rows(table)
        assert isinstance(found, kind)
        assert isinstance(encoder.transform(table), kind)
        assert (np.column_stack([found[name] for name in encoder.feature_names])
                == expected.to_numpy()).all()  # fmt: skip
        assert not any(reasons)
    lazy = encoder.transform(pl.DataFrame(columns).lazy())
    assert isinstance(lazy, pl.DataFrame)
    assert isinstance(encoder.transform(columns), pd.DataFrame)
    batch = pa.RecordBatch.from_pydict(columns)
    assert isinstance(encoder.transform(batch), pa.Table)
