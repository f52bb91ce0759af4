import numpy as np
import pandas as pd
import pytest

from fairsmooth.data.encoding import TableEncoder
from fairsmooth.datasets import load_adult, load_compas, make_biased
from fairsmooth.exceptions import InputError


def cells(data):
    counts = pd.Series(data.y).groupby([data.sensitive_features, data.y]).size()
    return counts.rename_axis(["group", "label"])


@pytest.mark.parametrize("test_size", [0.3, 0.05, 0.5])
def test_split_is_stratified_on_label_and_group_to_one_row(test_size):
    data = load_compas("binned", sensitive="race", race="full")
    train, test = data.split(test_size)
    assert len(test) == round(test_size * len(data))
    assert len(train) + len(test) == len(data)
    assert (cells(test).sub(cells(data) * test_size, fill_value=0).abs() <= 1).all()


def test_split_partitions_the_rows():
    data = make_biased(500)
    parts = pd.concat([part.X for part in data.split()])
    pd.testing.assert_frame_equal(
        parts.sort_values("x0", ignore_index=True), data.X.sort_values("x0", ignore_index=True)
    )


def test_split_keeps_rows_together():
    data = make_biased(500)
    for part in data.split():
        chance = part.truth.probability(part.X, part.sensitive_features)
        place = data.X["x0"].searchsorted(part.X["x0"], sorter=np.argsort(data.X["x0"]))
        rows = np.argsort(data.X["x0"].to_numpy())[place]
        np.testing.assert_array_equal(part.y, data.y[rows])
        assert part.sensitive_features.tolist() == data.sensitive_features.iloc[rows].tolist()
        np.testing.assert_array_equal(
            chance, data.truth.probability(data.X, data.sensitive_features)[rows]
        )


def test_split_follows_the_seed_and_not_the_encoding():
    binned, coarse = load_compas("binned"), load_compas("aif360")
    _, first = binned.split(random_state=1)
    _, same = coarse.split(random_state=1)
    _, other = binned.split(random_state=2)
    np.testing.assert_array_equal(first.y, same.y)
    assert (first.y != other.y).any()


def test_split_learns_bins_and_categories_on_the_training_part_only():
    data = load_compas("binned")
    train, test = data.split(0.5, random_state=3)
    assert train.encoder != data.encoder
    again = TableEncoder.learn(train._table, unknown="ignore")
    assert train.encoder == again == test.encoder
    pd.testing.assert_frame_equal(train.X, again.transform(train._table))
    pd.testing.assert_frame_equal(test.X, again.transform(test._table))


def test_the_test_part_cannot_move_the_training_part():
    data = load_compas("binned")
    train, test = data.split(random_state=0)
    rest = data._table.index.isin(_rows_of(data, test))
    data._table.loc[rest, "age"] = 1000
    moved, _ = data.split(random_state=0)
    pd.testing.assert_frame_equal(train.X, moved.X)


def _rows_of(data, test):
    marked = load_compas("raw", include_sensitive=True)
    marked.X["row"] = np.arange(len(data))
    return marked.split(random_state=0)[1].X["row"]


def test_category_that_only_the_test_part_has_is_all_zero():
    data = load_adult("binned")
    rows = np.r_[0:2000]
    holland = np.flatnonzero(load_adult("raw").X["native-country"] == "Holand-Netherlands")
    small = data.take(np.r_[rows, holland])
    train, test = small._parts(rows, np.array([2000]))
    assert "native-country=Holand-Netherlands" not in train.X
    assert test.X.filter(regex="^native-country").to_numpy().sum() == 0


def test_take_by_mask_by_position_and_with_repeats():
    data = make_biased(100)
    mask = np.arange(100) % 3 == 0
    pd.testing.assert_frame_equal(data.take(mask).X, data.take(np.flatnonzero(mask)).X)
    twice = data.take([5, 5])
    assert len(twice) == 2
    assert list(twice.X.index) == [0, 1]
    assert twice.sensitive_features.nunique() == 1


def test_take_keeps_the_encoding():
    data = load_adult("binned")
    part = data.take(np.arange(100))
    assert part.encoder == data.encoder
    pd.testing.assert_frame_equal(part.X, data.X.iloc[:100])
    assert part.official_train.all()


def test_take_refuses_a_mask_of_another_length():
    with pytest.raises(InputError, match=r"one entry per row of dataset \(100\), got 99"):
        make_biased(100).take(np.ones(99, dtype=bool))


@pytest.mark.parametrize("test_size", [0.0, 1.0, -0.1, 30, float("nan")])
def test_split_refuses_shares_outside_0_and_1(test_size):
    with pytest.raises(InputError, match="test_size between 0 and 1, got test_size="):
        make_biased(100).split(test_size)


def test_split_refuses_an_empty_part():
    with pytest.raises(InputError, match="rows in both parts, got 0 of 100 rows in the test part"):
        make_biased(100).split(0.001)


def test_official_split_needs_one():
    with pytest.raises(InputError, match=r"official .* got 'compas', which has none"):
        load_compas().official_split()
    train, _ = load_adult("aif360").official_split()
    with pytest.raises(InputError, match=r"got 'adult', which has none here\. Use split\(\)"):
        train.official_split()


def test_a_dataset_is_frozen():
    with pytest.raises(AttributeError, match="cannot assign to field 'y'"):
        make_biased(10).y = None
