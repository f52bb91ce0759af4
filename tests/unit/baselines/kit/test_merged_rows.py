import numpy as np

from fairsmooth.baselines._kit.merged_rows import merged_rows


def some_rows(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [rng.integers(0, 2, (n_rows, 3)), rng.choice([0.1, 1e-300, 3e8], n_rows)]
    )


def test_rows_are_found_again_and_no_two_are_equal():
    X = some_rows()
    found = merged_rows(X)
    np.testing.assert_array_equal(found.rows[found.number], X)
    assert len(found.rows) == len(np.unique(X, axis=0))


def test_weights_of_equal_rows_add_up():
    X = some_rows()
    weights = np.random.default_rng(1).random(200)
    found = merged_rows(X)
    expected = [weights[(row == X).all(axis=1)].sum() for row in found.rows]
    np.testing.assert_allclose(found.summed(weights), expected, rtol=1e-12)


def test_rows_that_mostly_differ_stay_as_they_are():
    X = np.random.default_rng(0).normal(size=(50, 2))
    X[:10] = X[40:]
    found = merged_rows(X)
    np.testing.assert_array_equal(found.rows, X)
    np.testing.assert_array_equal(found.number, np.arange(50))


def test_minus_zero_is_zero():
    found = merged_rows(np.array([[0.0], [-0.0], [0.0]]))
    assert len(found.rows) == 1
