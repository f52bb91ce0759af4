"""Contributions add up, and are the integrals of gradients that they claim to be."""

import warnings

import numpy as np
import pytest

from fairsmooth import FairSmoothClassifier, InputError, smooth_probability
from fairsmooth.core.attribution import attribute, linear_path, one_by_one
from fairsmooth.core.explanation import GRADIENTS, ONE_BY_ONE
from fairsmooth.datasets import make_biased


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("sigma", [0.0, 0.3, 2.0])
def test_ten_thousand_rows_add_up(link, sigma):
    rng = np.random.default_rng(0)
    parameters = rng.normal(size=9) * 2.0
    rows = rng.normal(size=(10_000, 8)) * np.exp(rng.uniform(-3, 3, (10_000, 1)))
    reference = rng.normal(size=8)

    def score(X):
        return smooth_probability((), parameters, X, sigma=sigma, link=link)

    difference = score(rows) - score(reference[None, :])
    path = linear_path(parameters, reference, sigma=sigma, link=link)
    found = attribute(path, rows, difference)
    assert np.abs(found.contributions.sum(axis=1) - difference).max() < 1e-9
    assert np.abs(found.left_over).max() < 1e-6


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_contributions_are_integrals_of_gradients(link):
    rng = np.random.default_rng(1)
    parameters, row, reference = rng.normal(size=5), rng.normal(size=4), rng.normal(size=4)

    def score(X):
        return smooth_probability((), parameters, X, sigma=0.7, link=link)

    path = linear_path(parameters, reference, sigma=0.7, link=link)
    difference = score(row[None, :]) - score(reference[None, :])
    found = attribute(path, row[None, :], difference).contributions[0]
    # Central differences along the line, by the midpoint rule.
    steps = (np.arange(4000) + 0.5) / 4000
    line = reference + steps[:, None] * (row - reference)
    for feature in range(4):
        move = np.zeros(4)
        move[feature] = 1e-5
        gradient = (score(line + move) - score(line - move)) / 2e-5
        expected = (row - reference)[feature] * gradient.mean()
        assert found[feature] == pytest.approx(expected, abs=1e-7)


def test_one_by_one_adds_up_and_is_fair_to_order():
    rows = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 0.0]])

    def score(X):
        return np.tanh(X[:, 0] * X[:, 1]) + X[:, 2]

    found = one_by_one(score, rows, np.zeros(3), [[0], [1], [2]])
    np.testing.assert_allclose(found.sum(axis=1), score(rows), atol=1e-14)
    np.testing.assert_allclose(found[:, 0], found[:, 1])


@pytest.mark.parametrize(
    ("settings", "method"),
    [
        ({}, GRADIENTS),
        ({"hidden_layer_sizes": (4,), "max_iter": 2, "solver": "adam"}, GRADIENTS),
        ({"hidden_layer_sizes": (3, 2), "max_iter": 1, "n_draws": 64}, ONE_BY_ONE),
    ],
)
def test_classifiers_explain_themselves(settings, method):
    data = make_biased(n_samples=300, random_state=0)
    clf = FairSmoothClassifier(random_state=0, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(data.X, data.y, sensitive_features=data.sensitive_features)
    rows = data.X.iloc[:10]
    found = clf.explain(rows, reference=data.X)
    assert found.method == method
    assert found.columns == tuple(data.X.columns)
    np.testing.assert_allclose(found.scores, clf.predict_proba(rows)[:, 1], atol=1e-9)
    total = found.reference_score + found.contributions.sum(axis=1)
    assert np.abs(total - found.scores).max() < 1e-9
    mean = data.X.mean().to_frame().T
    assert found.reference_score == pytest.approx(clf.predict_proba(mean)[0, 1], abs=1e-6)
    decided = clf.predict(rows) == clf.classes_[1]
    assert (found.decisions == decided).all()
    for position, group in enumerate(clf.groups_):
        own = clf.predict_proba_group(rows, group)[:, 1] > clf.threshold_
        assert (own == decided)[found.agrees[:, position]].all()


def test_mistakes_in_what_to_explain():
    data = make_biased(n_samples=200, random_state=0)
    clf = FairSmoothClassifier().fit(data.X, data.y, sensitive_features=data.sensitive_features)
    with pytest.raises(InputError, match="one name per feature"):
        clf.explain(data.X, columns=["a"])
    with pytest.raises(InputError, match="Expected a finite reference of"):
        clf.explain(data.X, reference=[1.0])
