"""Rows in three forms do the same: logits, sums, lengths, scales, pieces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fairsmooth.core.rows import CodedRows, DenseRows, SparseRows
from fairsmooth.core.rows.packing import NO_FEATURE
from fairsmooth.core.rows.rows import segments
from fairsmooth.core.rows.unpacked import source_columns


def coded(n=50, levels=(3, 2, 5), n_numbers=0, seed=0, chunk_rows=7, kind=np.uint8):
    """Rows with a code more than levels; of two levels one has an indicator."""
    random = np.random.default_rng(seed)
    offsets, features, names = [], [], 0
    for count in levels:
        offsets.append(len(features))
        width = 1 if count == 2 else count
        features += [-1, names, -1] if count == 2 else [*range(names, names + count), -1]
        names += width
    codes = np.column_stack([random.integers(0, c + 1, n) for c in levels] or [np.empty((n, 0))])
    return CodedRows(
        codes.astype(kind),
        np.array(offsets, dtype=np.int64),
        np.array(features, dtype=np.int64),
        random.normal(size=(n, n_numbers)),
        np.arange(names, names + n_numbers),
        tuple(f"x{k}" for k in range(names + n_numbers)),
        chunk_rows,
    )


def forms(rows):
    X = rows.toarray()
    return {
        "coded": rows,
        "packed": rows.packed(),
        "dense": DenseRows(X),
        "sparse": SparseRows(csr_array(X), 11),
    }


@pytest.mark.parametrize("form", ["coded", "packed", "dense", "sparse"])
@pytest.mark.parametrize("n_numbers", [0, 2])
@pytest.mark.parametrize("n_groups", [1, 4])
def test_every_form_gives_logits_and_sums_of_the_matrix(form, n_numbers, n_groups):
    rows = coded(n_numbers=n_numbers)
    X, rows = rows.toarray(), forms(rows)[form]
    random = np.random.default_rng(1)
    groups = np.sort(random.integers(0, n_groups, len(X)))
    W, values = random.normal(size=(n_groups, X.shape[1] + 1)), random.normal(size=len(X))
    table = rows.table(W)
    sums, logits = np.zeros_like(table), np.empty(len(X))
    for start, stop, block in rows.blocks(groups):
        logits[start:stop] = block.logits(table)
        block.add_sums(values[start:stop], sums)
    padded = np.column_stack([X, np.ones(len(X))])
    np.testing.assert_allclose(logits, (padded * W[groups]).sum(1), rtol=0, atol=1e-13)
    expected = [values[groups == k] @ padded[groups == k] for k in range(n_groups)]
    np.testing.assert_allclose(rows.gradient(sums), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows.logits(W[0]), padded @ W[0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("form", ["coded", "packed", "dense", "sparse"])
@pytest.mark.parametrize("levels", [(3, 2, 5), ()])
def test_every_form_knows_lengths_scales_and_parts(form, levels):
    rows = forms(coded(levels=levels, n_numbers=2))[form]
    X = rows.toarray()
    assert rows.shape == X.shape
    assert len(rows) == len(X)
    np.testing.assert_allclose(rows.squared_norms(), (X**2).sum(1), rtol=1e-14)
    np.testing.assert_array_equal(rows.squared().toarray(), X**2)
    largest, middle = rows.scales()
    np.testing.assert_array_equal(largest, np.abs(X).max(0))
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(middle, np.sqrt((X**2).sum(0) / (X != 0).sum(0)), rtol=1e-14)
    for part in (slice(3, 20), np.array([4, 1, 1]), np.arange(len(X)) % 3 == 0):
        np.testing.assert_array_equal(rows[part].toarray(), X[part])
    np.testing.assert_array_equal(np.asarray(rows), X)
    np.testing.assert_array_equal(np.concatenate(list(rows.dense_pieces())), X)


def test_codes_of_two_bytes_and_sparse_entries():
    rows = coded(levels=(300, 4), n_numbers=1, kind=np.uint16)
    np.testing.assert_array_equal(rows.tocsr().toarray(), rows.toarray())
    np.testing.assert_array_equal(coded().tocsr().toarray(), coded().toarray())
    assert rows.toarray()[:, :304].sum(1).max() == 2.0


def test_a_level_that_never_occurs_has_no_scale():
    largest, middle = coded(n=1, levels=(3,)).scales()
    assert (np.isnan(middle) == (largest == 0.0)).all()
    assert np.isnan(middle).sum() >= 2


@given(st.lists(st.integers(0, 5)))
def test_segments_are_the_runs(groups):
    groups = np.sort(np.array(groups, dtype=np.int16))
    runs = segments(groups)
    rebuilt = [group for group, start, stop in runs for _ in range(start, stop)]
    assert rebuilt == groups.tolist()
    assert all(stop > start for _, start, stop in runs)


@given(st.lists(st.integers(2, 300), min_size=1, max_size=12), st.integers(0, 5))
def test_packed_rows_are_the_same_rows(levels, seed):
    rows = coded(20, tuple(levels), n_numbers=1, seed=seed, kind=np.uint16)
    packed = rows.packed()
    np.testing.assert_array_equal(packed.toarray(), rows.toarray())
    np.testing.assert_array_equal(packed.tocsr().toarray(), rows.tocsr().toarray())
    np.testing.assert_array_equal(packed.squared_norms(), rows.squared_norms())
    assert packed.packed() is packed
    # A code never outgrows its column, and two columns of few levels always share one.
    stops = np.append(packed.offsets[1:], len(packed.features))
    assert (packed.codes < stops - packed.offsets).all()
    widths = sorted(stops - packed.offsets)
    assert len(widths) < 2 or widths[0] * widths[1] > 256


def test_columns_that_fill_a_byte_are_packed_into_bytes():
    rows = coded(3000, (15, 15, 3, 3, 3, 2, 255))
    assert rows.codes.dtype == np.uint8
    packed = rows.packed()
    assert packed.codes.dtype == np.uint8
    assert packed.codes.shape[1] == 3
    np.testing.assert_array_equal(packed.toarray(), rows.toarray())


@pytest.mark.parametrize("form", ["coded", "packed"])
@pytest.mark.parametrize("levels", [(), (2,), (3, 2, 5), (3,) * 9])
def test_columns_each_alone_spell_the_rows_out(levels, form):
    rows = forms(coded(levels=levels, n_numbers=2))[form]
    expected, found = rows.toarray(), np.zeros(rows.shape)
    for column in source_columns(rows):
        features = column.features[rows.codes[:, column.code]]
        used = np.flatnonzero(features != NO_FEATURE)
        found[used, features[used]] += 1.0
    np.testing.assert_array_equal(found[:, :-2], expected[:, :-2])
    np.testing.assert_array_equal(found[:, -2:], 0.0)
