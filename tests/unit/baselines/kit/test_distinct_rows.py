import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairsmooth.baselines._kit import distinct_rows
from fairsmooth.baselines._kit.distinct_rows import few_distinct_rows

tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 30), st.integers(1, 4)),
    elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1, 1e-300, 3.0]),
)


@given(X=tables)
def test_every_row_is_found_once(X):
    expected = np.unique(X + 0.0, axis=0)
    found = few_distinct_rows(X, len(expected))
    np.testing.assert_array_equal(found.rows[found.number], X)
    assert len(found.rows) == len(expected)
    assert few_distinct_rows(X, len(expected) - 1) is None


def test_columns_in_memory_order_are_rows_all_the_same():
    X = np.asfortranarray(np.random.default_rng(0).integers(0, 2, (500, 6)).astype(float))
    found = few_distinct_rows(X, 64)
    np.testing.assert_array_equal(found.rows[found.number], X)


def test_many_distinct_rows_are_given_up_after_the_first(monkeypatch):
    seen = []
    hashes = distinct_rows._hashes
    monkeypatch.setattr(distinct_rows, "_hashes", lambda X: seen.append(len(X)) or hashes(X))
    X = np.random.default_rng(0).normal(size=(1000, 3))
    assert few_distinct_rows(X, 10) is None
    assert seen == [40]


@pytest.mark.parametrize("hashes", [np.zeros(3), np.array([0.0, 1.0, 1.0])])
def test_rows_of_one_hash_are_not_taken_for_one_row(monkeypatch, hashes):
    monkeypatch.setattr(distinct_rows, "_hashes", lambda X: hashes)
    assert few_distinct_rows(np.array([[1.0], [2.0], [1.0]]), 3) is None
