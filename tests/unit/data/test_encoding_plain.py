"""Encoders as plain data: exact when honest, refused when not."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open

from fairsmooth.data.encoding import TableEncoder
from fairsmooth.data.files import read_table
from fairsmooth.exceptions import InputError


def mixed_table():
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "number": random.normal(size=80),
            "job": random.choice(["clerk", "nurse", None], 80),
            "flag": random.random(80) < 0.5,
            "gaps": np.where(random.random(80) < 0.2, np.nan, random.normal(size=80)),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(80) * 9, "D"),
        }
    )


@pytest.mark.parametrize("numeric", ["binned", "standardised"])
def test_round_trip_through_json_is_exact(numeric):
    table = mixed_table()
    encoder = TableEncoder.learn(table, numeric=numeric, unknown="ignore", n_bins=7)
    again = TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert again == encoder
    pd.testing.assert_frame_equal(again.transform(table), encoder.transform(table))


def altered(path, value):
    plain = TableEncoder.learn(mixed_table()).to_dict()
    *parents, last = path
    place = plain
    for key in parents:
        place = place[key]
    if value is KeyError:
        del place[last]
    else:
        place[last] = value
    return plain


@pytest.mark.parametrize(
    ("path", "value", "match"),
    [
        (["columns"], KeyError, "no entry 'columns'"),
        (["columns"], [], "no columns"),
        (["columns"], 3, "not iterable"),
        (["columns"], "text", "indices"),
        (["columns", 0, "kind"], "pickle", "kind to be one of 'binned'"),
        (["columns", 0, "kind"], KeyError, "no entry 'kind'"),
        (["columns", 0, "name"], 5, "5 where text belongs"),
        (["columns", 0, "name"], "job", "column name once, got 'job' twice"),
        (["columns", 0, "edges"], [], "edges that do not increase"),
        (["columns", 0, "edges"], [1.0, 1.0], "edges that do not increase"),
        (["columns", 0, "edges"], [float("nan")], "nan where a finite number belongs"),
        (["columns", 0, "edges"], [True], "True where a finite number belongs"),
        (["columns", 0, "edges"], "12", "'12' where a list belongs"),
        (["columns", 1, "values"], ["a", "a"], "fewer than two or not distinct"),
        (["columns", 1, "values"], [], "fewer than two or not distinct"),
        (["columns", 1, "values"], [1, 2], "1 where text belongs"),
        (["columns", 1, "missing"], "yes", "missing='yes', neither true nor false"),
        (["columns", 1, "other"], 1, "other=1, neither true nor false"),
        (["columns", 3, "missing"], 1, "missing=1, neither true nor false"),
        (["columns", 4, "part"], "hour", "'hour' where a part of a date belongs"),
        (["columns", 4, "part"], "month", "column name once, got 'day month' twice"),
        (["columns", 4, "edges"], [], "edges that do not increase"),
        (["numeric"], "log", "numeric to be one of"),
        (["n_bins"], True, "n_bins to be an integer >= 2"),
        (["max_categories"], None, "max_categories to be an integer >= 2"),
        (["unknown"], [], "unknown to be one of"),
    ],
)
def test_plain_data_is_not_trusted(path, value, match):
    with pytest.raises(InputError, match=f"as written by TableEncoder.to_dict.*{match}"):
        TableEncoder.from_dict(altered(path, value))


@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf")])
def test_plain_scale_is_not_trusted(scale):
    plain = TableEncoder.learn(mixed_table(), numeric="standardised").to_dict()
    plain["columns"][0]["scale"] = scale
    with pytest.raises(InputError, match=r"scale that is not positive|inf where a finite number"):
        TableEncoder.from_dict(plain)


def old_encoder(name):
    path = Path(__file__).parents[2] / "data" / "models_v1" / name
    with safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()["fairsmooth"])["encoder"]


@pytest.mark.parametrize("name", ["table-race.safetensors", "table-two-hidden.safetensors"])
def test_encoders_in_files_of_format_1_are_read(name):
    old = old_encoder(name)
    assert not any("other" in rule for rule in old["columns"])
    encoder = TableEncoder.from_dict(old)
    table = read_table(Path(__file__).parents[2] / "data" / "models_v1" / "table.csv")
    encoded = encoder.transform(table)
    assert encoded.shape == (len(table), len(encoder.feature_names))
    assert TableEncoder.from_dict(encoder.to_dict()) == encoder
