"""Fitting and scoring rows in compact forms: the same model as from the whole matrix."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.exceptions import ConvergenceWarning

from fairsmooth import FairSmoothClassifier, InputError
from fairsmooth.data.encoding import TableEncoder


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(3)
    n = 400
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 70, n),
            "income": np.round(random.lognormal(10, 1, n), 2),
            "job": random.choice(["clerk", "nurse", "smith", None], n),
            "flag": random.random(n) < 0.3,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900, n), "D"),
        }
    )
    frame.loc[::17, "income"] = np.nan
    y = (frame["age"] + 20 * (frame["job"] == "nurse") + random.normal(0, 15, n) > 55).astype(int)
    return frame, y.to_numpy(), random.integers(0, 3, n)


@pytest.mark.parametrize("numeric", ["binned", "standardised"])
def test_the_encoder_s_codes_are_its_matrix(table, numeric):
    frame = table[0]
    encoder = TableEncoder.learn(frame, numeric=numeric, unknown="ignore")
    coded, spelt_out = encoder.encode(frame), encoder.transform(frame)
    np.testing.assert_array_equal(coded.toarray(), spelt_out.to_numpy())
    assert list(coded.names) == list(spelt_out.columns)
    assert coded.codes.dtype == np.uint8
    odd = frame.iloc[:3].copy()
    odd["job"] = ["clerk", "wizard", None]
    odd["age"] = [20.0, 30.0, np.nan]
    coded, why = encoder.encode_rows(odd)
    spelt_out, same = encoder.transform_rows(odd)
    np.testing.assert_array_equal(coded.toarray(), spelt_out.to_numpy())
    assert why.tolist() == same.tolist()
    assert why[1] is None
    assert "age is missing" in why[2]
    assert not coded.toarray()[2].any()


@pytest.mark.parametrize("numeric", ["binned", "standardised"])
@pytest.mark.parametrize(
    "options", [{}, {"link": "probit", "parity": "both", "parity_weight": 0.3}]
)
def test_a_linear_model_of_codes_is_that_of_the_matrix(table, numeric, options):
    frame, y, groups = table
    encoder = TableEncoder.learn(frame, numeric=numeric)
    coded, spelt_out = encoder.encode(frame), encoder.transform(frame)
    fits = [
        FairSmoothClassifier(sigma=0.2, tol=1e-8, random_state=0, **options).fit(
            X, y, sensitive_features=groups
        )
        for X in (spelt_out, coded, csr_matrix(spelt_out.to_numpy()))
    ]
    for other in fits[1:]:
        np.testing.assert_allclose(other.group_parameters_, fits[0].group_parameters_, atol=1e-6)
        np.testing.assert_allclose(
            other.free_group_parameters_, fits[0].free_group_parameters_, atol=1e-4
        )
    assert list(fits[1].feature_names_in_) == list(spelt_out.columns)
    same = fits[1]
    expected, ends = same.predict_with_interval(spelt_out)
    for X, clf in ((coded, same), (csr_array(spelt_out.to_numpy()), fits[2])):
        clf.rule_ = same.rule_
        scores, found = clf.predict_with_interval(X)
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found, ends, rtol=0, atol=1e-12)
        np.testing.assert_allclose(clf.predict_proba(X)[:, 1], expected, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(clf.predict(X), same.predict(spelt_out))
        np.testing.assert_allclose(
            clf.predict_proba_group(X, 1),
            same.predict_proba_group(spelt_out, 1),
            rtol=0,
            atol=1e-12,
        )


@pytest.mark.parametrize("sigma", [0.0, 0.3])
def test_a_network_of_codes_is_that_of_the_matrix(table, sigma):
    frame, y, groups = table
    encoder = TableEncoder.learn(frame)
    coded, spelt_out = encoder.encode(frame), encoder.transform(frame)
    options = {"sigma": sigma, "max_iter": 3, "random_state": 0, "early_stopping": True}
    with pytest.warns(UserWarning, match="still improved"):
        ours = FairSmoothClassifier((4,), **options).fit(coded, y, sensitive_features=groups)
    with pytest.warns(UserWarning, match="still improved"):
        theirs = FairSmoothClassifier((4,), **options).fit(spelt_out, y, sensitive_features=groups)
    np.testing.assert_array_equal(ours.group_parameters_, theirs.group_parameters_)
    np.testing.assert_array_equal(ours.predict_proba(coded), theirs.predict_proba(spelt_out))
    for found, expected in zip(
        ours.predict_with_interval(coded), theirs.predict_with_interval(spelt_out), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_no_rows_have_no_scores(table):
    frame, y, groups = table
    coded = TableEncoder.learn(frame).encode(frame)
    for layers in ((), (2,)):
        clf = FairSmoothClassifier(layers, max_iter=1, random_state=0)
        with pytest.warns(UserWarning, match="converge|falling"):
            clf.fit(coded, y, sensitive_features=groups)
        scores, ends = clf.predict_with_interval(coded[:0])
        assert (scores.shape, ends.shape) == ((0,), (0, 3, 2))


def test_rows_too_long_to_be_squared_are_scored_as_they_are(table):
    _, y, groups = table
    X = csr_array(np.random.default_rng(0).normal(size=(len(y), 2)))
    clf = FairSmoothClassifier(random_state=0).fit(X, y, sensitive_features=groups)
    huge = np.array([[1e200, -1e199], [0.0, 0.0]])
    np.testing.assert_allclose(clf.predict_proba(csr_array(huge)), clf.predict_proba(huge))


def test_entries_of_one_place_are_added(table):
    _, y, groups = table
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    # Every entry as two halves, the last column first, in long indices.
    halves = np.repeat(X[:, ::-1] / 2, 2, axis=1).ravel()
    places = np.tile(np.array([2, 2, 1, 1, 0, 0], dtype=np.int64), len(y))
    parts = csr_matrix((halves, places, np.arange(0, 6 * len(y) + 1, 6)), shape=X.shape)
    clf, same = (
        FairSmoothClassifier(random_state=0).fit(rows, y, sensitive_features=groups)
        for rows in (X, parts)
    )
    np.testing.assert_allclose(same.group_parameters_, clf.group_parameters_, atol=1e-6)
    np.testing.assert_allclose(clf.predict_interval(parts), clf.predict_interval(X), atol=1e-12)
    assert parts.nnz == 2 * X.size  # the caller's matrix is as it was


@pytest.mark.parametrize(("kind", "entry"), [(bool, True), (np.int8, 100), (np.uint8, 200)])
@pytest.mark.parametrize("form", [csr_matrix, csc_array])
def test_entries_of_one_place_are_added_in_their_own_type(table, kind, entry, form):
    """True and true is true, as in SciPy's own dense form and its other sparse ones, not 2."""
    _, y, groups = table
    shape = (len(y), len(y))
    # Four entries in every row, or in every column, some of them in one place.
    places = np.random.default_rng(0).integers(0, 3, 4 * len(y))
    X = form((np.full(4 * len(y), entry, kind), places, np.arange(0, 4 * len(y) + 1, 4)), shape)
    dense = X.toarray().astype(float)
    assert not X.has_canonical_format
    clf = FairSmoothClassifier(random_state=0, free_reference=False, sigma=0.1, max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        parameters = clf.fit(X, y, sensitive_features=groups).group_parameters_
        np.testing.assert_allclose(clf.predict_proba(X), clf.predict_proba(dense), atol=1e-12)
        clf.fit(dense, y, sensitive_features=groups)
    np.testing.assert_allclose(parameters, clf.group_parameters_, atol=1e-9)


def test_columns_of_another_encoder_are_refused(table):
    frame, y, groups = table
    clf = FairSmoothClassifier(random_state=0)
    clf.fit(TableEncoder.learn(frame).encode(frame), y, sensitive_features=groups)
    with pytest.raises(InputError, match="Encode them by its encoder"):
        clf.predict(TableEncoder.learn(frame[["age"]]).encode(frame))


def test_weights_of_the_wrong_kind_are_refused(biased):
    clf, groups = FairSmoothClassifier(), biased.sensitive_features
    with pytest.raises(ValueError, match="Negative values"):
        clf.fit(
            biased.X, biased.y, sensitive_features=groups, sample_weight=-np.ones(len(biased.y))
        )
    with pytest.raises(ValueError, match="sample_weight"):
        clf.fit(biased.X, biased.y, sensitive_features=groups, sample_weight=np.ones(3))


def test_minibatches_and_thresholds_use_weights(biased):
    """Half of the rows are mislabelled and weigh nearly nothing."""
    X, y, groups = (np.concatenate([part, part]) for part in
                    (biased.X.to_numpy(), biased.y, biased.sensitive_features))  # fmt: skip
    n = len(biased.y)
    y[n:] = 1 - y[n:]
    weights = np.repeat([1.0, 1e-6], n)
    for options in ({"solver": "adam"}, {"threshold": "accuracy"}, {"parity": "both"}):
        clf = FairSmoothClassifier(
            random_state=0, sigma=0.1, free_reference=False, parity_weight=0.1, **options
        )
        clf.fit(X, y, sensitive_features=groups, sample_weight=weights)
        assert (clf.predict(biased.X.to_numpy()) == biased.y).mean() > 0.65
        clf.fit(X, y, sensitive_features=groups, sample_weight=weights[::-1])
        assert (clf.predict(biased.X.to_numpy()) == biased.y).mean() < 0.35


def test_a_warm_start_goes_on_from_where_it_was(biased):
    args = {"sensitive_features": biased.sensitive_features}
    clf = FairSmoothClassifier(random_state=0, warm_start=True, tol=1e-6, free_reference=False)
    first = clf.fit(biased.X, biased.y, **args).n_iter_
    parameters = clf.group_parameters_
    with warnings.catch_warnings():  # nothing is left to do, and that is no failure
        warnings.simplefilter("error")
        clf.fit(biased.X, biased.y, **args)
    assert clf.n_iter_ == 0 < first
    np.testing.assert_allclose(clf.group_parameters_, parameters, rtol=0, atol=1e-9)
    scores = clf.predict_proba(biased.X)
    for _ in range(2):  # what was refused is refused again, and the model is as it was
        with pytest.raises(InputError, match="with warm_start=True, got others: 2 columns"):
            clf.fit(biased.X.iloc[:, :2], biased.y, **args)
        np.testing.assert_array_equal(clf.predict_proba(biased.X), scores)


def test_a_warm_start_with_other_names_or_layers_is_refused(biased):
    args = {"sensitive_features": biased.sensitive_features}
    clf = FairSmoothClassifier(random_state=0, warm_start=True, free_reference=False)
    clf.fit(biased.X, biased.y, **args)
    scores = clf.predict_proba(biased.X)
    turned = biased.X.set_axis(list(biased.X.columns[::-1]), axis=1)
    with pytest.raises(InputError, match="columns of the last fit with warm_start=True"):
        clf.fit(turned, biased.y, **args)
    clf.set_params(hidden_layer_sizes=(3,))
    with pytest.raises(InputError, match=r"layers or the module of the last fit .* not 6\."):
        clf.fit(biased.X, biased.y, **args)
    clf.set_params(hidden_layer_sizes=())
    with pytest.raises(ValueError, match="NaN"):
        clf.fit(biased.X * np.nan, biased.y, **args)
    # What was refused leaves the model as it was, and the next training goes on from it.
    np.testing.assert_array_equal(clf.predict_proba(biased.X), scores)
    assert clf.fit(biased.X, biased.y, **args).n_iter_ == 0
