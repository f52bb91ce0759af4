import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.unit.data.forecasts.conftest import draw

from fairsmooth.columns import ForecastEncoder, Forecasts
from fairsmooth.exceptions import InputError


@pytest.fixture(scope="module")
def fitted(rows):
    table, y, group = rows
    forecasts = Forecasts(rounds=30)
    X = forecasts.fit_transform(table, y, sensitive_features=group)
    return forecasts, X


def test_columns_are_named_centred_and_scaled(fitted, rows):
    forecasts, X = fitted
    assert list(X.columns) == ["P(Y=1)", "P(A=f, Y=0)", "P(A=f, Y=1)"]  # m has more rows
    assert list(forecasts.get_feature_names_out()) == list(X.columns)
    assert X.index.equals(rows[0].index)
    np.testing.assert_allclose(X.mean(), 0.0, atol=1e-12)
    np.testing.assert_allclose(X.std(ddof=0), 1.0, atol=1e-12)


def test_training_rows_are_forecast_out_of_fold_and_new_rows_are_not(fitted, rows):
    forecasts, X = fitted
    again = forecasts.transform(rows[0])
    assert list(again.columns) == list(X.columns)
    assert np.abs(again - X).to_numpy().max() > 0.05


def test_columns_keep_the_index_of_the_table(rows):
    table, y, group = rows
    moved = table.set_axis(np.arange(len(table))[::-1] + 50)
    X = Forecasts(rounds=1, n_folds=2).fit_transform(moved, y, sensitive_features=group)
    assert X.index.equals(moved.index)


def test_joint_forecasts_come_back_from_the_columns(fitted, rows):
    forecasts, X = fitted
    encoder = forecasts.encoder_
    np.testing.assert_allclose(
        encoder.joint_of(forecasts.transform(rows[0])), encoder.joint(rows[0]), atol=1e-14
    )
    matrix, offset = encoder.joint_map()
    joint = encoder.joint_of(X)
    np.testing.assert_array_equal((X.to_numpy() @ matrix + offset).reshape(-1, 2, 2), joint)
    np.testing.assert_allclose(joint.sum(axis=(1, 2)), 1.0, atol=1e-12)
    assert joint.min() > -1e-12


def test_forecasts_of_unseen_rows_are_probabilities():
    """Calibrated: of rows forecast at p, about p are so; better than the shares by far."""
    table, y, group = draw(4000)
    new, new_y, new_group = draw(4000, seed=1)
    joint = Forecasts().fit(table, y, sensitive_features=group).encoder_.joint(new)
    codes = (new_group == "m").astype(int)
    for a in (0, 1):
        for label in (0, 1):
            forecast, found = joint[:, a, label], (codes == a) & (new_y == label)
            for part in np.array_split(np.argsort(forecast, kind="stable"), 4):
                assert found[part].mean() == pytest.approx(forecast[part].mean(), abs=0.06)
    truth = np.where(new["age"] > 45, 0.7, 0.2)
    assert np.abs(joint[:, :, 1].sum(axis=1) - truth).mean() < 0.05


def test_the_same_seed_gives_the_same_columns_and_another_seed_others(fitted, rows):
    table, y, group = rows
    _, X = fitted
    same = Forecasts(rounds=30).fit_transform(table, y, sensitive_features=group)
    pd.testing.assert_frame_equal(same, X)
    other = Forecasts(rounds=30, random_state=1).fit_transform(table, y, sensitive_features=group)
    assert (other != X).to_numpy().any()


def test_prediction_needs_no_group(fitted, rows):
    encoder = fitted[0].encoder_
    assert encoder.columns == ["age", "job", "score"]
    assert encoder.text_columns == ["job"]


def test_the_label_alone(rows):
    table, y, group = rows
    forecasts = Forecasts(group=False, rounds=20)
    X = forecasts.fit_transform(table, y, sensitive_features=group)
    assert list(X.columns) == list(forecasts.transform(table).columns) == ["P(Y=1)"]
    assert any("The group is not forecast" in note for note in forecasts.notes_)
    with pytest.raises(InputError, match="Expected forecasts of the group, got an encoder that"):
        forecasts.encoder_.joint(table)
    with pytest.raises(InputError, match="Expected forecasts of the group"):
        forecasts.encoder_.joint_of(X)


def test_a_group_that_is_a_feature_is_read_and_not_forecast(rows):
    table, y, group = rows
    known = table.assign(sex=group)
    forecasts = Forecasts(group_columns=["sex"], rounds=20)
    X = forecasts.fit_transform(known, y, sensitive_features=group)
    codes = (group == "m").astype(int)
    for joint in (forecasts.encoder_.joint_of(X), forecasts.encoder_.joint(known)):
        np.testing.assert_allclose(joint.sum(axis=2)[np.arange(600), codes], 1.0, atol=1e-12)
    assert any("The group is read from sex" in note for note in forecasts.notes_)
    # As theory has it: q_{ay}(x, a') is 0 for another group, and the columns tell a threshold each.
    assert np.abs(joint[np.arange(600), 1 - codes]).max() < 1e-12


def test_a_group_that_its_columns_do_not_tell_is_forecast(rows):
    table, y, group = rows
    forecasts = Forecasts(group_columns=["age"], rounds=5)
    forecasts.fit(table, y, sensitive_features=group)
    assert any("no function of the levels of age; it is forecast" in n for n in forecasts.notes_)
    with pytest.raises(InputError, match="Expected a column named 'sex' in the features"):
        Forecasts(group_columns=["sex"]).fit(table, y, sensitive_features=group)


def test_several_sensitive_columns_and_a_rare_group(rows):
    table, y, group = rows
    rare = np.where(np.arange(600) < 3, "x", "z")
    y = y.copy()
    y[:3] = [0, 1, 1]
    both = pd.DataFrame({"a": group, "b": rare})
    forecasts = Forecasts(rounds=10)
    X = forecasts.fit_transform(table, y, sensitive_features=both)
    joint = forecasts.encoder_.joint_of(X)
    n_groups = both.drop_duplicates().shape[0]
    assert joint.shape == (600, n_groups, 2)
    assert np.isfinite(X.to_numpy()).all()
    assert np.abs(X.to_numpy()).max() <= 10.0
    few = [note for note in forecasts.notes_ if "its forecasts rest on few rows" in note]
    assert any("'f|x'" in note or "'m|x'" in note for note in few)


def test_notes_tell_how_good_forecasts_are_and_that_the_group_is_forecast(fitted):
    notes = " ".join(fitted[0].notes_)
    assert "Forecast of the label: log loss 0." in notes
    assert "Forecast of the group, given the label: log loss 0." in notes
    assert "for the shares alone" in notes
    assert "whether that is wanted and lawful is for you to know" in notes


def test_too_few_rounds_are_told(rows):
    table, y, group = rows
    forecasts = Forecasts(rounds=2).fit(table, y, sensitive_features=group)
    assert "more rounds may be better" in forecasts.notes_[0]


@pytest.mark.parametrize("booster", ["sklearn", "lightgbm"])
def test_plain_data_and_tensors_hold_all_of_it(rows, booster):
    pytest.importorskip(booster)
    table, y, group = rows
    encoder = Forecasts(booster=booster, rounds=10).fit(table, y, sensitive_features=group).encoder_
    plain = json.loads(json.dumps(encoder.to_dict()))
    again = ForecastEncoder.from_dict(plain, encoder.tensors())
    pd.testing.assert_frame_equal(again.transform(table), encoder.transform(table))
    assert again.to_dict() == encoder.to_dict()


def test_rows_that_cannot_be_forecast_are_told(fitted, rows):
    encoder = fitted[0].encoder_
    table = rows[0].head(3).assign(job=["clerk", "astronaut", "nurse"])
    encoded, lines = encoder.transform_rows(table)
    assert lines.tolist() == [None, "job is 'astronaut', not seen in training", None]
    assert (encoded.iloc[1] == 0.0).all()
    pd.testing.assert_frame_equal(encoded.iloc[[0]], encoder.transform(table.iloc[[0]]))
    with pytest.raises(InputError, match="in row 12"):
        encoder.transform(table, offset=10)
    assert encoder.with_unknown("ignore").transform_rows(table)[1].tolist() == [None] * 3


def test_a_row_is_forecast_alike_alone_and_among_others(fitted, rows):
    encoder = fitted[0].encoder_
    whole = encoder.transform(rows[0])
    alone = pd.concat([encoder.transform(rows[0].iloc[[place]]) for place in range(20)])
    pd.testing.assert_frame_equal(alone, whole.head(20), check_exact=True)


def test_features_stay_within_their_bounds(fitted, rows):
    low, high = fitted[0].encoder_.bounds
    X = fitted[0].transform(draw(500, seed=9)[0]).to_numpy()
    assert np.array_equal(np.clip(X, low, high), X)


def test_settings_survive_cloning():
    assert clone(Forecasts(rounds=7, booster="lightgbm")).get_params()["rounds"] == 7


def test_before_fit_there_is_nothing():
    with pytest.raises(NotFittedError, match="not fitted"):
        Forecasts().transform(pd.DataFrame({"a": [1]}))
    with pytest.raises(NotFittedError, match="not fitted"):
        Forecasts().get_feature_names_out()


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_folds": 1}, "Expected n_folds between 2 and 100, got n_folds=1"),
        ({"unknown": "guess"}, "Expected unknown to be one of"),
        ({"booster": "none"}, "Expected booster to be one of"),
    ],
)
def test_wrong_settings(rows, settings, match):
    table, y, group = rows
    with pytest.raises(InputError, match=match):
        Forecasts(**settings).fit(table, y, sensitive_features=group)


def test_wrong_rows(rows):
    table, y, group = rows
    with pytest.raises(InputError, match="Expected 2 values in y, got 1"):
        Forecasts().fit(table, np.zeros(600), sensitive_features=group)
    with pytest.raises(InputError, match=r"Expected y with one label per row \(600\), got shape"):
        Forecasts().fit(table, y[:5], sensitive_features=group)
    with pytest.raises(InputError, match="Expected at least 10 rows for 5 folds, got 8"):
        Forecasts().fit(table[:8], y[:8], sensitive_features=group[:8])
    with pytest.raises(InputError, match="Expected sensitive_features to have one entry per row"):
        Forecasts().fit(table, y, sensitive_features=group[:5])
