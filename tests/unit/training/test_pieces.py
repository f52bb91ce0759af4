"""Pieces with the groups that they meet, against all rows at once."""

import numpy as np
import pytest

from fairsmooth.core.rows import CodedRows, DenseRows, SparseRows
from fairsmooth.training import pieces as module
from fairsmooth.training.grouped import GroupedRows
from fairsmooth.training.linear_pass import LinearPass
from fairsmooth.training.pieces import kept_pieces, pieces


def coded(n, *, numbers=0, chunk_rows=7, seed=0):
    random = np.random.default_rng(seed)
    sizes = (4, 3, 5)
    offsets = np.cumsum([0, *sizes])[:-1]
    features = np.concatenate([[*range(s - 1), -1] for s in sizes])
    features[4:][features[4:] >= 0] += 3
    features[7:][features[7:] >= 0] += 2
    n_features = int(features.max()) + 1
    codes = np.column_stack([random.integers(0, s, n) for s in sizes]).astype(np.uint8)
    return CodedRows(
        codes,
        offsets,
        features,
        random.normal(size=(n, numbers)),
        n_features + np.arange(numbers),
        tuple(f"x{k}" for k in range(n_features + numbers)),
        chunk_rows,
    )


def grouped(rows, n_groups, seed=1):
    random = np.random.default_rng(seed)
    groups = random.integers(0, n_groups, len(rows))
    # The first and the last group have no rows here.
    groups = groups.clip(1, max(1, n_groups - 2))
    by_group = [np.flatnonzero(groups == group) for group in range(n_groups)]
    return GroupedRows.of(rows, random.integers(0, 2, len(rows)), by_group)


@pytest.mark.parametrize("numbers", [0, 2])
@pytest.mark.parametrize("n_groups", [3, 9, 60])
@pytest.mark.parametrize("kept", [False, True])
def test_a_pass_by_pieces_is_that_of_dense_rows(numbers, n_groups, kept, monkeypatch):
    if not kept:
        monkeypatch.setattr(module, "MOST_KEPT", 0)
    rows = coded(50, numbers=numbers)
    data = grouped(rows, n_groups)
    W = np.random.default_rng(2).normal(size=(n_groups, rows.shape[1] + 1))
    found = LinearPass(data, 0.6, "logistic")
    assert (found._kept is not None) is kept
    dense = LinearPass(grouped(DenseRows(rows.toarray()), n_groups), 0.6, "logistic")
    for _ in range(2):  # what is kept must survive a pass
        ours, theirs = found.contribution(W), dense.contribution(W)
        np.testing.assert_allclose(ours.losses, theirs.losses, rtol=1e-12)
        np.testing.assert_allclose(ours.gradient, theirs.gradient, rtol=1e-11, atol=1e-13)


def test_a_piece_names_the_groups_that_it_meets():
    rows = coded(20)
    groups = np.array([0] * 5 + [2] * 4 + [3] * 11)
    found = [(p.start, p.stop, p.first, p.last) for p in pieces(rows, groups)]
    assert found == [(0, 7, 0, 3), (7, 14, 2, 4), (14, 20, 3, 4)]


def test_kept_pieces_stay_as_they_are():
    rows, groups = coded(40), np.sort(np.random.default_rng(3).integers(0, 6, 40))
    table = np.random.default_rng(4).normal(size=(6, len(rows.features)))
    kept = kept_pieces(rows, groups)
    passing = np.concatenate([piece.logits(table) for piece in pieces(rows, groups)])
    np.testing.assert_array_equal(np.concatenate([p.logits(table) for p in kept]), passing)


def test_large_tables_and_other_rows_are_not_kept(monkeypatch):
    from scipy.sparse import csr_array

    rows, groups = coded(40), np.zeros(40, dtype=np.int64)
    monkeypatch.setattr(module, "MOST_KEPT", rows.codes.size - 1)
    assert kept_pieces(rows, groups) is None
    assert kept_pieces(DenseRows(rows.toarray()), groups) is None
    assert kept_pieces(SparseRows(csr_array(rows.toarray())), groups) is None
