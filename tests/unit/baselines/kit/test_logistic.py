import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
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


@pytest.mark.parametrize("penalty", [1e-3, 1e-6])
def test_steps_that_lead_too_far_are_halved(penalty):
    X, _, _ = problem_data(sparse=False)
    y = (X[:, 0] > 0.0) * 1.0  # separable: the minimum lies far out
    found = WeightedLogistic(X, penalty=penalty, tol=1e-8).solve(y, 1.0 - y)
    residual = 1.0 / (1.0 + np.exp(-X @ found[:-1] - found[-1])) - y
    np.testing.assert_allclose(residual @ X, -penalty * found[:-1], atol=1e-7)
    assert residual.sum() == pytest.approx(0.0, abs=1e-7)
    assert np.abs(found).max() > 10.0


def test_columns_of_very_different_size_are_no_obstacle():
    X, y, weights = problem_data(sparse=False)
    small = WeightedLogistic(X, penalty=1e-15, tol=1e-7).solve(weights * y, weights * (1 - y))
    sizes = np.array([1e6, 1.0, 1e-3, 1e3])
    large = WeightedLogistic(X * sizes, penalty=1e-15, tol=1e-7)
    found = large.solve(weights * y, weights * (1 - y))
    np.testing.assert_allclose(found[:-1] * sizes, small[:-1], atol=1e-5)


def test_old_curvature_serves_other_weights():
    X, y, weights = problem_data(sparse=True)
    problem = WeightedLogistic(X, penalty=1.0, tol=1e-7)
    for scale in (1.0, 1.1, 50.0, 1e-3):
        for labels in (y, 1 - y):
            again = problem.solve(scale * weights * labels, scale * weights * (1 - labels))
            anew = WeightedLogistic(X, penalty=1.0, tol=1e-7)
            expected = anew.solve(scale * weights * labels, scale * weights * (1 - labels))
            np.testing.assert_allclose(again, expected, atol=1e-5)


def test_tells_when_steps_run_out():
    X, y, weights = problem_data(sparse=False)
    problem = WeightedLogistic(X, penalty=1.0, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps: Newton's decrement"):
        problem.solve(weights * y, weights * (1 - y))
