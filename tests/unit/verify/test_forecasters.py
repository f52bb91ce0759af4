"""The verifier's own reading of forecasters: arrays that cannot be walked are told apart."""

import numpy as np
import pytest

from fairsmooth.exceptions import ModelFileError
from fairsmooth.verify._forecasters import Forecasters, check_forecasters, read_forecasters

STUMP = np.array([[1, 3, 1, 2, 0], [0, 0, 1, 1, -1.5], [0, 0, 2, 2, 2.5]], dtype=float)


def forecasters(place=None, value=0.0, n_rounds=1):
    nodes = STUMP.copy()
    if place is not None:
        nodes[place] = value
    parts = {"nodes": nodes, "roots": np.zeros((n_rounds, 1)), "baseline": np.zeros(1)}
    return {f"forecast.label.{name}": array for name, array in parts.items()}


def test_honest_trees_are_counted():
    check = check_forecasters(Forecasters(2, 0), forecasters(n_rounds=3))
    assert check.holds
    assert "3 trees of 3 nodes forecast label, every path ends in a leaf" in check.detail


def test_the_digest_is_that_of_the_trees():
    details = {
        check_forecasters(Forecasters(2, 0), forecasters((1, 4), value)).detail
        for value in (-1.5, -1.25, -1.25)
    }
    assert len(details) == 2


@pytest.mark.parametrize(
    ("place", "value", "match"),
    [
        ((0, 0), 2.0, "features from 0 to 1 to forecast the label"),
        ((0, 0), 0.5, "features from 0 to 1"),
        ((0, 1), -2.0, "thresholds from -1 to 32767"),
        ((0, 2), 3.0, "children from 0 to 2"),
        ((1, 2), 0.0, "no way back in a tree to forecast the label"),
        ((0, 2), 0.0, "no way back"),
        ((1, 3), 2.0, "no way back"),
        ((1, 4), 1e10, r"values up to 1e\+09 to forecast the label"),
    ],
)
def test_nodes_that_lead_astray(place, value, match):
    with pytest.raises(ModelFileError, match=f"Expected {match}"):
        check_forecasters(Forecasters(2, 0), forecasters(place, value))


@pytest.mark.parametrize(
    ("name", "array", "match"),
    [
        ("nodes", np.zeros((3, 4)), "nodes of 5 entries"),
        ("roots", np.zeros((1, 2)), "1 trees a round"),
        ("baseline", np.zeros(2), "1 trees a round"),
        ("roots", np.full((1, 1), 3.0), "roots from 0 to 2"),
    ],
)
def test_arrays_that_do_not_fit(name, array, match):
    tensors = forecasters() | {f"forecast.label.{name}": array}
    with pytest.raises(ModelFileError, match=f"Expected {match}"):
        check_forecasters(Forecasters(2, 0), tensors)


def test_a_tensor_must_be_there():
    with pytest.raises(ModelFileError, match=r"Expected a tensor 'forecast.group.nodes'"):
        check_forecasters(Forecasters(2, 2), forecasters())


def encoder(**changes):
    rules = [{"kind": "binned", "name": "age", "edges": [1.0, 2.0]}]
    plain = {
        "kind": "forecasts", "inputs": {"columns": rules}, "groups": ["f", "m"], "reference": 0,
        "centre": [0.0] * 3, "scale": [1.0] * 3,
    }  # fmt: skip
    return plain | changes


def test_shapes_follow_from_groups_and_columns():
    found = read_forecasters(encoder())
    assert (found.n_inputs, found.n_groups, found.n_features) == (1, 2, 3)
    assert found.shapes == {"label": (1, 1), "group": (2, 1)}
    three = Forecasters(4, 3)
    assert (three.n_features, three.shapes["group"]) == (5, (5, 3))
    assert read_forecasters({"columns": []}) is None
    alone = read_forecasters(encoder(groups=None, centre=[0.0], scale=[1.0]))
    assert (alone.n_features, set(alone.shapes)) == (1, {"label"})


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"more": 1}, "an encoder with"),
        ({"inputs": []}, "inputs with columns"),
        ({"inputs": {"columns": []}}, "inputs with columns"),
        ({"groups": ["f"]}, "two groups to forecast"),
        ({"groups": ["f", "f"]}, "groups to be different texts"),
        ({"reference": 2}, "a reference among the groups"),
        ({"reference": True}, "a reference among the groups"),
        ({"centre": [0.0]}, "3 numbers as centre"),
        ({"scale": [1.0, 1.0, "1"]}, "3 numbers as scale"),
        ({"scale": [1.0, 1.0, 0.0]}, "positive scales"),
    ],
)
def test_encoders_that_do_not_fit(changes, match):
    with pytest.raises(ModelFileError, match=f"Expected {match}"):
        read_forecasters(encoder(**changes))
