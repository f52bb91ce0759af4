import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fairsmooth.baselines._kit.logistic import WeightedLogistic


def problem_data(*, sparse: bool, n_rows: int = 300, seed: int = 0):
    rng = np.random.default_rng(seed)
    if sparse:
        X = np.concatenate([np.eye(6)[rng.integers(0, 6, n_rows)] for _ in range(3)], axis=1)
    else:
        X = rng.normal(size=(n_rows, 4))
    y = (X @ rng.normal(size=X.shape[1]) + rng.normal(size=n_rows) > 0).astype(np.int64)
    return X, y, rng.uniform(0.1, 2.0, n_rows)


@pytest.mark.parametrize("sparse", [True, False])
def test_agrees_with_scikit_learn(sparse):
    X, y, weights = problem_data(sparse=sparse)
    expected = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000)
    expected.fit(X, y, sample_weight=weights)
    found = WeightedLogistic(X, penalty=2.0, tol=1e-7).solve(weights * y, weights * (1 - y))
    np.testing.assert_allclose(found[:-1], expected.coef_[0], atol=1e-5)
    np.testing.assert_allclose(found[-1], expected.intercept_[0], atol=1e-5)


def test_start_does_not_change_the_answer():
    X, y, weights = problem_data(sparse=True)
    problem = WeightedLogistic(X, penalty=1.0, tol=1e-7)
    cold = problem.solve(weights * y, weights * (1 - y))
    far = problem.solve(weights * y, weights * (1 - y), start=cold + 3.0)
    np.testing.assert_allclose(far, cold, atol=1e-5)


def test_merging_equal_rows_keeps_the_problem():
    X, y, weights = problem_data(sparse=True, n_rows=40)
    merged = WeightedLogistic(np.vstack([X, X]), penalty=1.0, tol=1e-7)
    twice = merged.solve(np.tile(weights * y, 2), np.tile(weights * (1 - y), 2))
    once = WeightedLogistic(X, penalty=1.0, tol=1e-7)
    np.testing.assert_allclose(twice, once.solve(2 * weights * y, 2 * weights * (1 - y)), atol=1e-5)
    np.testing.assert_allclose(merged.logits(twice)[:40], X @ twice[:-1] + twice[-1])


def test_soft_labels_are_two_weights_in_one_row():
    problem = WeightedLogistic(np.zeros((1, 1)), penalty=1.0, tol=1e-8)
    found = problem.solve(np.array([3.0]), np.array([1.0]))
    assert problem.logits(found)[0] == pytest.approx(np.log(3.0), abs=1e-6)
