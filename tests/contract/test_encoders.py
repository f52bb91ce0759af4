"""One contract for every encoder: what a model of a table asks of it."""

import json

import numpy as np
import pandas as pd
import pytest

from fairsmooth.columns import Forecasts
from fairsmooth.data.crossed import CrossedEncoder
from fairsmooth.data.encoders import read_encoder
from fairsmooth.data.encoding import TableEncoder
from fairsmooth.exceptions import InputError

N = 300


def table():
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": random.integers(18, 80, N),
            "job": random.choice(["clerk", "nurse", "smith"], N),
            "gaps": np.where(random.random(N) < 0.2, np.nan, random.normal(size=N)),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N) * 3, "D"),
        },
        index=np.arange(N) + 7,
    )


def forecasts(**settings):
    random = np.random.default_rng(1)
    y, group = random.integers(0, 2, N), random.choice(["f", "m", "x"], N)
    learner = Forecasts(rounds=4, n_folds=2, **settings)
    return learner.fit(table(), y, sensitive_features=group).encoder_


ENCODERS = {
    "binned": lambda: TableEncoder.learn(table()),
    "standardised": lambda: TableEncoder.learn(table(), numeric="standardised"),
    "crossed": lambda: CrossedEncoder.learn(table()),
    "forecasts": forecasts,
    "label forecast": lambda: forecasts(group=False),
}


@pytest.fixture(scope="module", params=ENCODERS.values(), ids=ENCODERS)
def encoder(request):
    return request.param()


def test_it_makes_finite_features_with_names(encoder):
    X = encoder.transform(table())
    assert list(X.columns) == encoder.feature_names
    assert len(set(encoder.feature_names)) == len(encoder.feature_names)
    assert X.index.equals(table().index)
    assert np.isfinite(X.to_numpy()).all()
    assert (X.dtypes == np.float64).all()


def test_features_depend_on_the_row_alone(encoder):
    shuffled = table().sample(frac=1.0, random_state=0)[["day", "job", "gaps", "age"]]
    expected = encoder.transform(table())
    pd.testing.assert_frame_equal(
        encoder.transform(shuffled).loc[expected.index], expected, check_exact=True
    )
    pd.testing.assert_frame_equal(
        encoder.transform(table().iloc[[5]]), expected.iloc[[5]], check_exact=True
    )


def test_no_rows_have_no_features(encoder):
    assert encoder.transform(table().head(0)).shape == (0, len(encoder.feature_names))


def test_it_says_what_it_needs(encoder):
    assert encoder.columns == ["age", "job", "gaps", "day"]
    assert encoder.text_columns == ["job"]
    with pytest.raises(InputError, match="Expected a column named 'gaps'"):
        encoder.transform(table().drop(columns="gaps"))


def test_it_survives_a_file(encoder):
    plain = json.loads(json.dumps(encoder.to_dict()))
    again = read_encoder(plain, encoder.tensors())
    pd.testing.assert_frame_equal(
        again.transform(table()), encoder.transform(table()), check_exact=True
    )


def test_unknown_categories_raise_or_are_ignored(encoder):
    new = table().head(3).assign(job=["clerk", "pilot", "nurse"])
    with pytest.raises(InputError, match="known categories"):
        encoder.transform(new)
    X, lines = encoder.transform_rows(new)
    assert [line is None for line in lines] == [True, False, True]
    assert (X.iloc[1] == 0.0).all()
    assert np.isfinite(encoder.with_unknown("ignore").transform(new).to_numpy()).all()
    with pytest.raises(InputError, match="Expected unknown to be one of"):
        encoder.with_unknown("guess")


def test_features_stay_within_the_bounds_it_states(encoder):
    if encoder.bounds is None:
        assert encoder.numeric == "standardised"  # numbers without bounds
        return
    X = encoder.transform(table()).to_numpy()
    np.testing.assert_array_equal(np.clip(X, *encoder.bounds), X)
