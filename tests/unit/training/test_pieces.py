"""Pieces with the groups that they meet, against all rows at once."""

from dataclasses import replace

import numpy as np
import pytest

from fairsmooth.core.rows import CodedRows, DenseRows, SparseRows
from fairsmooth.training import pieces as module
from fairsmooth.training.grouped import GroupedRows
from fairsmooth.training.linear_pass import LinearPass
from fairsmooth.training.pieces import pieces_of


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


def groups_of(rows, n_groups, seed=1):
    groups = np.random.default_rng(seed).integers(0, n_groups, len(rows))
    # The first and the last group have no rows here.
    return groups.clip(1, n_groups - 2) if n_groups > 2 else groups


def grouped(rows, n_groups):
    random, groups = np.random.default_rng(5), groups_of(rows, n_groups)
    by_group = [np.flatnonzero(groups == group) for group in range(n_groups)]
    return GroupedRows.of(rows, random.integers(0, 2, len(rows)), by_group)


# How small tables are gone over, by what is said to be fast.
WAYS = {"_Streamed": (0, 5), "_Kept": (2**22, 0), "_ByParameter": (2**22, 10**6)}


def go(monkeypatch, way):
    most_kept, places_of_entry = WAYS[way]
    monkeypatch.setattr(module, "MOST_KEPT", most_kept)
    monkeypatch.setattr(module, "_PLACES_OF_ENTRY", places_of_entry)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("numbers", [0, 2])
@pytest.mark.parametrize("n_groups", [3, 9, 60])
@pytest.mark.parametrize("way", WAYS)
def test_a_pass_by_pieces_is_that_of_dense_rows(numbers, n_groups, way, packed, monkeypatch):
    go(monkeypatch, way)
    rows = coded(50, numbers=numbers)
    data = grouped(rows, n_groups)
    if not packed:
        data = replace(data, rows=rows.take(np.argsort(groups_of(rows, n_groups), kind="stable")))
    W = np.random.default_rng(2).normal(size=(n_groups, rows.shape[1] + 1))
    found = LinearPass(data, 0.6, "logistic")
    if numbers:
        assert type(found._pieces).__name__ == ("_Streamed" if way == "_Streamed" else "_Kept")
    else:
        assert type(found._pieces).__name__ == way
    dense = LinearPass(grouped(DenseRows(rows.toarray()), n_groups), 0.6, "logistic")
    for _ in range(2):  # what is kept must survive a pass
        ours, theirs = found.contribution(W), dense.contribution(W)
        np.testing.assert_allclose(ours.losses, theirs.losses, rtol=1e-12)
        np.testing.assert_allclose(ours.gradient, theirs.gradient, rtol=1e-11, atol=1e-13)


def test_many_groups_of_few_rows_go_without_a_table_of_levels():
    assert type(grouped_pass(60)._pieces).__name__ == "_ByParameter"
    assert type(grouped_pass(1)._pieces).__name__ == "_Kept"


def grouped_pass(n_groups):
    return LinearPass(grouped(coded(500), n_groups), 0.6, "logistic")


def test_a_piece_names_the_groups_that_it_meets(monkeypatch):
    rows = coded(20)
    groups = np.array([0] * 5 + [2] * 4 + [3] * 11)
    for way in WAYS:
        go(monkeypatch, way)
        found = [(p.start, p.stop, p.first, p.last) for p in pieces_of(rows, groups, 4)]
        assert found == [(0, 7, 0, 3), (7, 14, 2, 4), (14, 20, 3, 4)]


def test_kept_pieces_stay_as_they_are(monkeypatch):
    rows, groups = coded(40), np.sort(np.random.default_rng(3).integers(0, 6, 40))
    table = np.random.default_rng(4).normal(size=(6, len(rows.features)))
    found = []
    for way in ("_Kept", "_Streamed"):
        go(monkeypatch, way)
        pieces = pieces_of(rows, groups, 6)
        # Kept ones, at once; the others are valid until the next one.
        some = list(pieces) if way == "_Kept" else pieces
        found.append(np.concatenate([piece.logits(table) for piece in some]))
    np.testing.assert_array_equal(*found)


def test_large_tables_and_other_rows_are_not_kept(monkeypatch):
    from scipy.sparse import csr_array

    rows, groups = coded(40), np.zeros(40, dtype=np.int64)
    monkeypatch.setattr(module, "MOST_KEPT", rows.codes.size - 1)
    for some in (rows, DenseRows(rows.toarray()), SparseRows(csr_array(rows.toarray()))):
        assert type(pieces_of(some, groups, 1)).__name__ == "_Streamed"


def test_rows_of_numbers_alone_are_gone_over():
    numbers = np.random.default_rng(0).normal(size=(30, 2))
    none = np.empty(0, dtype=np.int64)
    rows = CodedRows(np.empty((30, 0), np.uint8), none, none, numbers, np.arange(2), ("a", "b"), 7)
    W = np.random.default_rng(1).normal(size=(4, 3))
    ours, theirs = (
        LinearPass(grouped(form, 4), 0.6, "probit").contribution(W)
        for form in (rows, DenseRows(numbers))
    )
    np.testing.assert_allclose(ours.gradient, theirs.gradient, rtol=1e-11, atol=1e-13)
