"""The plain regression beside a model: coded rows against the same rows spelt out."""

import numpy as np
import pandas as pd
import pytest

from fairsmooth.core.rows import CodedRows
from fairsmooth.tables.comparison import _decisions, as_matrix, comparable, plain_regression


def coded(n=300, *, numbers=0, seed=0):
    random = np.random.default_rng(seed)
    sizes, features, n_features = (3, 4, 2), [], 0
    for size in sizes:
        # The last level of a column stands for nothing.
        features += [*range(n_features, n_features + size - 1), -1]
        n_features += size - 1
    codes = np.column_stack([random.integers(0, s, n) for s in sizes]).astype(np.uint8)
    return CodedRows(
        codes,
        np.cumsum([0, *sizes])[:-1],
        np.array(features),
        random.normal(size=(n, numbers)),
        n_features + np.arange(numbers),
        tuple(f"x{k}" for k in range(n_features + numbers)),
    )


@pytest.mark.parametrize("numbers", [0, 2])
@pytest.mark.parametrize("packed", [False, True])
def test_coded_rows_are_a_sparse_matrix_of_the_same_entries(numbers, packed):
    rows = coded(numbers=numbers)
    rows = rows.packed() if packed else rows
    matrix = as_matrix(rows)
    np.testing.assert_array_equal(matrix.toarray(), rows.toarray())
    # In order, so that neither SciPy nor scikit-learn sorts them.
    assert matrix.has_sorted_indices


def test_decisions_are_those_of_the_matrix():
    rows = coded()
    y = (rows.toarray()[:, 0] + np.random.default_rng(1).random(len(rows)) > 0.8).astype(int)
    X, labels, words = comparable(rows, y)
    assert words == ""
    model = plain_regression().fit(X, labels)
    decided = _decisions(model, rows)
    np.testing.assert_array_equal(decided, model.predict(rows.toarray()))
    np.testing.assert_array_equal(decided, _decisions(model, rows.toarray()))
    frame = pd.DataFrame(rows.toarray(), columns=rows.names)  # without a warning of its names
    np.testing.assert_array_equal(decided, _decisions(model, frame))
    assert 0 < decided.sum() < len(decided)
