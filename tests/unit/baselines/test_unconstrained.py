import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth.baselines.unconstrained.classifier import UnconstrainedClassifier
from fairsmooth.exceptions import InputError


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    groups = rng.integers(0, 2, 400)
    y = (X[:, 0] - 0.5 * X[:, 1] + 0.8 * groups + 0.5 * rng.normal(size=400) > 0.3).astype(int)
    return X, y, groups


def test_without_hidden_layers_it_is_scikit_learns_logistic_regression(rows):
    X, y, groups = rows
    ours = UnconstrainedClassifier(C=0.3).fit(X, y, sensitive_features=groups)
    theirs = LogisticRegression(C=0.3, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_groups_do_not_change_the_model(rows):
    X, y, groups = rows
    one = UnconstrainedClassifier().fit(X, y, sensitive_features=groups)
    other = UnconstrainedClassifier().fit(X, y, sensitive_features=1 - groups)
    np.testing.assert_array_equal(one.coefficients_, other.coefficients_)


def test_a_network_learns_what_no_line_can():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    groups = rng.integers(0, 2, 600)
    line = UnconstrainedClassifier().fit(X, y, sensitive_features=groups)
    network = UnconstrainedClassifier(
        hidden_layer_sizes=(16,), n_epochs=30, learning_rate=0.03, random_state=0
    ).fit(X, y, sensitive_features=groups)
    assert (line.predict(X) == y).mean() < 0.65
    assert (network.predict(X) == y).mean() > 0.9


def test_a_network_depends_on_the_seed_alone(rows):
    X, y, groups = rows
    frame = pd.DataFrame(X, columns=list("abcde"))

    def scores(seed):
        model = UnconstrainedClassifier(hidden_layer_sizes=(8,), n_epochs=2, random_state=seed)
        return model.fit(frame, y, sensitive_features=groups).predict_proba(frame)

    np.testing.assert_array_equal(scores(3), scores(3))
    assert not np.array_equal(scores(3), scores(4))


def test_refuses_a_penalty_of_the_wrong_sign(rows):
    X, y, groups = rows
    with pytest.raises(InputError, match="Expected C > 0, got C=-1"):
        UnconstrainedClassifier(C=-1).fit(X, y, sensitive_features=groups)
