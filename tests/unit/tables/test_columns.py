import numpy as np
import pandas as pd
import pytest

from fairsmooth import FairSmoothClassifier
from fairsmooth.columns import ForecastEncoder, Forecasts
from fairsmooth.data.roles import Roles
from fairsmooth.exceptions import InputError
from fairsmooth.tables import TableModel
from fairsmooth.tables.fitting import Parts

N = 500
ROLES = {"label": "risk", "positive": "good", "sensitive": "sex"}


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(1)
    job = random.choice(["clerk", "nurse", "smith"], N)
    age = random.integers(20, 70, N)
    sex = np.where(random.random(N) < 0.2 + 0.6 * (job == "nurse"), "f", "m")
    risk = np.where(age + random.normal(0, 15, N) > 42, "good", "bad")
    return pd.DataFrame({"sex": sex, "age": age, "job": job, "risk": risk})


def quick(**settings):
    return Forecasts(rounds=10, n_folds=3, **settings)


def fit(table, columns, **roles):
    return TableModel.fit(
        table, **ROLES, columns=columns, random_state=0,
        classifier=FairSmoothClassifier(free_reference=False), **roles,
    )  # fmt: skip


def test_the_classifier_is_trained_on_forecasts_out_of_fold(table):
    """Those of new rows know the training rows by heart, and would flatter the gaps."""
    roles = Roles("risk", ("sex",), positive="good")
    parts = Parts.of(table, roles, columns="forecasts", test_size=0.3, seed=0)
    features = table.drop(columns=["sex", "risk"]).loc[parts.X.index]
    expected = Forecasts(random_state=0).fit_transform(
        features, parts.y, sensitive_features=parts.sensitive
    )
    pd.testing.assert_frame_equal(parts.X, expected)
    assert np.abs(parts.X - parts.encoder.transform(features)).to_numpy().max() > 0.01
    assert any("whether that is wanted and lawful" in note for note in parts.provenance.notes)


def test_from_a_table_to_a_file_and_back(table, tmp_path):
    model = fit(table, quick())
    assert isinstance(model.encoder, ForecastEncoder)
    assert list(model.encoder.groups) == list(model.classifier.groups_) == ["f", "m"]
    model.save(tmp_path / "model")
    again = TableModel.load(tmp_path / "model")
    new = table.drop(columns=["sex", "risk"])  # no group is needed
    pd.testing.assert_frame_equal(again.predict(new), model.predict(new), check_exact=True)
    assert again.audit(table).summary() == model.audit(table).summary()
    unseen = new.head(2).assign(job=["pilot", "clerk"])
    assert again.predict(unseen)["probability"].isna().tolist() == [True, False]
    assert again.predict(unseen, unknown="ignore")["probability"].notna().all()


def test_a_sensitive_column_that_is_a_feature_tells_the_group(table):
    model = fit(table, "forecasts", include_sensitive=True)
    joint = model.encoder.joint(table)
    np.testing.assert_array_equal(joint.sum(axis=2).argmax(axis=1), table["sex"] == "m")
    assert joint.sum(axis=2).max(axis=1).min() == pytest.approx(1.0, abs=1e-12)
    assert any("The group is read from sex" in note for note in model.provenance.notes)


def test_the_label_alone(table):
    model = fit(table, "label-forecast")
    assert model.encoder.feature_names == ["P(Y=1)"]
    assert any("The group is not forecast" in note for note in model.provenance.notes)


def test_settings_of_your_own_are_kept_and_not_changed(table):
    mine = quick(random_state=3)
    model = fit(table, mine, unknown="ignore")
    assert model.encoder.unknown == "ignore"
    assert mine.unknown == "error"
    assert not hasattr(mine, "encoder_")
    assert model.encoder.label.n_rounds <= 10


def test_columns_that_there_are_not(table):
    with pytest.raises(InputError, match=r"Expected columns to be one of .*'forecasts', 'label-f"):
        fit(table, "horoscopes")
