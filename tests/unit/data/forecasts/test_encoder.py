"""Forecasters as plain data and arrays: refused when they do not fit."""

import pytest

from fairsmooth.columns import ForecastEncoder, Forecasts
from fairsmooth.exceptions import InputError


@pytest.fixture(scope="module")
def encoder(rows):
    table, y, group = rows
    return Forecasts(rounds=3, n_folds=2).fit(table, y, sensitive_features=group).encoder_


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("kind", "oracle", "the entries"),
        ("inputs", {"columns": []}, "Expected an encoder"),
        ("groups", ["f"], "1 groups"),
        ("groups", ["f", "f"], "f"),
        ("groups", ["f", 1], "1 where text belongs"),
        ("groups", "fm", "'fm' where a list belongs"),
        ("groups", ["f", "m", "x"], "5 columns with centres"),
        ("groups", None, "1 where a whole number from 0 to 0 belongs"),
        ("reference", 2, "2 where a whole number from 0 to 1 belongs"),
        ("reference", True, "True where a whole number"),
        ("centre", [0.0, 0.0], "3 columns with centres"),
        ("centre", [0.0, 0.0, 2.0], "3 columns with centres"),
        ("centre", [0.0, 0.0, "x"], "'x' where a finite number belongs"),
        ("centre", 0.5, "not iterable"),
        ("scale", [1.0, 1.0, 0.0], "3 columns with centres"),
        ("scale", [1.0, 1.0, 1e-9], "3 columns with centres"),
    ],
)
def test_entries_that_do_not_fit(encoder, name, value, match):
    plain = encoder.to_dict() | {name: value}
    with pytest.raises(InputError, match=match):
        ForecastEncoder.from_dict(plain, encoder.tensors())


def test_an_entry_too_many_or_too_few(encoder):
    for plain in (encoder.to_dict() | {"more": 1}, {"kind": "forecasts"}):
        with pytest.raises(InputError, match="got some that do not fit: the entries"):
            ForecastEncoder.from_dict(plain, encoder.tensors())


def test_a_forecaster_that_is_not_there(encoder):
    tensors = encoder.tensors()
    del tensors["forecast.group.nodes"]
    with pytest.raises(InputError, match="no array 'nodes' of a forest"):
        ForecastEncoder.from_dict(encoder.to_dict(), tensors)


def test_a_forecaster_that_looks_at_more_columns_than_there_are(encoder):
    tensors = encoder.tensors()
    # The forecaster of the group sees the label besides the columns; that of the label must not.
    nodes = tensors["forecast.label.nodes"].copy()
    nodes[0, 0] = len(encoder.inputs.rules)
    with pytest.raises(InputError, match="a feature that is not there"):
        ForecastEncoder.from_dict(encoder.to_dict(), tensors | {"forecast.label.nodes": nodes})
