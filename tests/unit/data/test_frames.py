import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairsmooth.data.frames import as_frame, table_digest
from fairsmooth.data.kinds import kind_of
from fairsmooth.exceptions import InputError


@pytest.mark.parametrize(
    ("values", "dtype", "kind"),
    [
        ([1, 2], "int64", "number"),
        (np.array([1, 2], "u1"), "int64", "number"),
        ([1, None], "float64", "number"),
        (pd.array([1, None], "Int64"), "Int64", "number"),
        (np.array([0.1, 2.5], "f4"), "float64", "number"),
        (np.array([0.5, 2.5], "f2"), "float64", "number"),
        ([decimal.Decimal("1.5"), None], "float64", "number"),
        ([2**53, 1], "int64", "number"),
        ([2**53 + 1, 1], "str", "text"),
        ([10**30, 1], "str", "text"),
        ([True, False], "bool", "boolean"),
        ([True, None], "boolean", "boolean"),
        (["true", "FALSE"], "bool", "boolean"),
        (["1", "2"], "int64", "number"),
        (["1", "x"], "str", "text"),
        ([1, "x"], "str", "text"),
        ([datetime.date(2020, 1, 1), None], "datetime64[us]", "date"),
        (pd.to_datetime(["2020-01-01"], utc=True), "datetime64[us]", "date"),
        (["2020-01-01", "n/a"], "datetime64[us]", "date"),
        (["2020-01-01", "2020-01-01T10:00+02:00"], "datetime64[us]", "date"),
        (["10:30", "11:30"], "str", "text"),
        (pd.Categorical([1, 2, 1]), "category", "text"),
        ([None, None], "str", "empty"),
        ([np.nan, np.nan], "str", "empty"),
        (["?", "NA"], "str", "empty"),
        (["-", "-"], "str", "text"),
        ([b"a", b"b"], "object", "bytes"),
    ],
)
def test_kinds(values, dtype, kind):
    column = as_frame(pd.DataFrame({"c": values}))["c"]
    assert (str(column.dtype), kind_of(column)) == (dtype, kind)


def test_float32_is_read_by_its_decimal_text():
    assert as_frame({"c": np.array([0.1, 0.2], "f4")})["c"].tolist() == [
        pytest.approx(0.1, abs=1e-7),
        pytest.approx(0.2, abs=1e-7),
    ]
    exact = as_frame(pd.DataFrame({"c": np.array([0.1, 0.2], "f4")}))["c"]
    assert exact.tolist() == [0.1, 0.2]


def test_the_index_is_ignored_and_the_table_left_alone():
    frame = pd.DataFrame({"c": ["1", "2"]}, index=[7, 7])
    normal = as_frame(frame)
    assert normal.index.tolist() == [0, 1]
    assert frame["c"].tolist() == ["1", "2"]


def test_what_all_rows_decided_is_not_decided_again_by_some():
    normal = as_frame({"c": ["1", "2", "X"], "n": ["1", "2", "3"]})
    part = normal.iloc[:2].drop(columns="n")
    assert as_frame(part)["c"].tolist() == ["1", "2"]
    assert as_frame(normal) is normal


def test_other_tables():
    columns = {"n": [1, None, 3], "t": ["a", None, "b"], "d": [datetime.date(2020, 1, 1)] * 3}
    tables = [
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pl.DataFrame(columns).lazy(),
        pa.table(columns),
        pa.RecordBatch.from_pydict(columns),
        columns,
    ]
    assert len({table_digest(as_frame(table)) for table in tables}) == 1


def test_declared_categories_of_other_libraries_stay_categories():
    polars = pl.DataFrame({"c": pl.Series(["2", "10", None, "2"], dtype=pl.Categorical)})
    arrow = pa.table({"c": pa.array(["2", "10", None, "2"]).dictionary_encode()})
    pandas = pd.DataFrame({"c": pd.Categorical([2, 10, None, 2])})
    for table in (polars, arrow, pandas):
        column = as_frame(table)["c"]
        assert kind_of(column) == "text"
        assert column.tolist()[:2] == ["2", "10"]
        assert table_digest(as_frame(table)) == table_digest(as_frame(pandas))


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda t: t.assign(n=t["n"].astype(float)), True),
        (lambda t: t.assign(t=t["t"] + " "), True),
        (lambda t: t.assign(t=t["t"].astype("category")), True),
        (lambda t: t.assign(z=-t["z"]), True),
        (lambda t: t.set_axis([5, 6]), True),
        (lambda t: t.iloc[::-1], False),
        (lambda t: t[["t", "n", "z"]], False),
        (lambda t: t.rename(columns={"n": "m"}), False),
        (lambda t: t.assign(n=[1, 3]), False),
        (lambda t: t.assign(t=["a", "c"]), False),
        (lambda t: t.assign(t=["b", "a"]), False),
        (lambda t: t.assign(n=[1, None]), False),
        (lambda t: t.iloc[:1], False),
    ],
)
def test_the_digest_is_that_of_names_kinds_and_values(change, same):
    table = pd.DataFrame({"n": [1, 2], "t": ["a", "b"], "z": [0.0, 0.0]})
    assert (table_digest(change(table)) == table_digest(table)) == same


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (3, "Expected a table .* got int"),
        ([[1, 2]], "Expected a table .* got list"),
        (np.eye(2), "Expected a table .* got ndarray"),
        (pl.Series([1]), "Expected a table .* got Series"),
        ({"a": [1], "b": [1, 2]}, "Expected columns of equal length"),
        ({"a": 1}, "Expected columns of equal length"),
        (pd.DataFrame({1: [1], "1": [2]}), "every column name once, got '1' twice"),
        (pd.DataFrame({"": [1]}), "a name for every column, got none for column 1 of 1"),
        ({"a": ["1" * 400, "2"]}, r"below 1\.8e308 in column 'a'"),
        ({"a": [10**400, 2]}, r"below 1\.8e308 in column 'a'"),
    ],
)
def test_what_is_no_table(table, match):
    with pytest.raises(InputError, match=match):
        as_frame(table)


def test_a_path_is_a_table(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1,5;x\n")
    for path in (tmp_path / "t.csv", str(tmp_path / "t.csv")):
        assert as_frame(path).to_dict("list") == {"a": [1.5], "b": ["x"]}


def test_columns_known_to_hold_categories_stay_text(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,1\nNone,2\n")
    table = {"a": ["1", "None"], "b": ["1", "2"]}
    for source in (tmp_path / "t.csv", table, pl.DataFrame(table), pd.DataFrame(table)):
        assert as_frame(source, text=["a"]).to_dict("list") == {"a": ["1", "None"], "b": [1, 2]}
        assert as_frame(source)["a"].isna().tolist() == [False, True]
