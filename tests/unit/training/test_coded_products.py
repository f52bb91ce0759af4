"""Sums over pairs of levels against the same rows spelt out."""

import numpy as np
import pytest

from fairsmooth.core.rows import CodedRows, DenseRows
from fairsmooth.training.coded_products import pays, weighted_products
from fairsmooth.training.grouped import GroupedRows
from fairsmooth.training.linear_pass import LinearPass


def coded(n, sizes, seed=0, numbers=0):
    """Return columns of so many levels, the last of each without a feature."""
    random = np.random.default_rng(seed)
    codes = np.column_stack([random.integers(0, size, n) for size in sizes]).astype(np.uint8)
    features, count = [], 0
    for size in sizes:
        features += [*range(count, count + size - 1), -1]
        count += size - 1
    return CodedRows(
        codes,
        np.cumsum([0, *sizes[:-1]]),
        np.array(features),
        random.normal(size=(n, numbers)),
        np.arange(count, count + numbers),
        tuple(f"x{k}" for k in range(count + numbers)),
    )


@pytest.mark.parametrize("sizes", [(3,), (2, 7, 5), (12, 11, 9, 40, 3, 2)])
@pytest.mark.parametrize("packed", [False, True])
def test_products_are_those_of_the_rows_spelt_out(sizes, packed):
    rows = coded(50, sizes)
    weights = np.random.default_rng(1).uniform(-1.0, 2.0, len(rows))
    padded = np.column_stack([rows.toarray(), np.ones(len(rows))])
    found = weighted_products(rows.packed() if packed else rows, weights)
    np.testing.assert_allclose(found, (padded * weights[:, None]).T @ padded, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("weighted", [False, True])
def test_curvatures_of_coded_rows_are_those_of_dense_ones(weighted):
    rows = coded(4500, (12, 11, 9, 40), seed=2)
    random = np.random.default_rng(3)
    y = random.integers(0, 2, len(rows))
    by_group = np.split(random.permutation(len(rows)), [2200])
    weights = random.uniform(0.1, 2.0, len(rows)) if weighted else None
    W = 0.3 * random.normal(size=(2, rows.shape[1] + 1))
    passes = [
        LinearPass(GroupedRows.of(X, y, by_group, weights), 0.6, "logistic")
        for X in (rows, DenseRows(rows.toarray()))
    ]
    assert [pays(one.data.rows, 2) for one in passes] == [True, False]
    for ask in (lambda one: one.curvature(), lambda one: one.curvatures(W)):
        ours, dense = (ask(one).numpy() for one in passes)
        np.testing.assert_allclose(ours, dense, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize(
    ("n", "sizes", "numbers", "n_sums", "expected"),
    [
        (2048, (12, 12), 0, 1, True),
        (2047, (12, 12), 0, 1, False),
        (4096, (12, 12), 0, 3, False),
        (2048, (2, 2, 2), 0, 1, False),
        (2048, (12, 12), 1, 1, False),
    ],
)
def test_pairs_of_levels_are_for_many_rows_of_many_features(n, sizes, numbers, n_sums, expected):
    rows = coded(n, sizes, numbers=numbers)
    assert pays(rows, n_sums) is expected
