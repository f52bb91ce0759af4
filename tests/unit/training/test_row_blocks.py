"""Rows of large groups come in blocks: every row once, near the others of its buffer, by seed."""

import numpy as np
import pytest
import torch

from fairsmooth import FairSmoothClassifier
from fairsmooth.training import row_blocks
from fairsmooth.training.batching import draw_rows
from fairsmooth.training.row_blocks import drawn_rows

BLOCK, BUFFER = 8, 32


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK", BLOCK)
    monkeypatch.setattr(row_blocks, "BUFFER", BUFFER)


def drawn(n_rows, count, seed=0):
    return drawn_rows(n_rows, count, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("n_rows", [1, 31, 32])
def test_few_rows_are_shuffled_as_a_whole(small, n_rows):
    plain = draw_rows(torch.arange(n_rows), 40, generator=torch.Generator().manual_seed(0))
    assert torch.equal(drawn(n_rows, 40), plain)


@pytest.mark.parametrize("n_rows", [33, 40, 257, 1000])
@pytest.mark.parametrize("share", [0.1, 0.9, 1.0, 2.5])
def test_every_row_is_drawn_before_one_is_drawn_again(small, n_rows, share):
    count = round(share * n_rows)
    rows = drawn(n_rows, count)
    assert len(rows) == count
    times = torch.bincount(rows, minlength=n_rows)
    assert len(times) == n_rows
    assert times.max() - times.min() <= 1
    assert torch.equal(rows, drawn(n_rows, count))
    assert not torch.equal(rows, drawn(n_rows, count, seed=1))


def test_a_buffer_reads_few_blocks_from_all_over_and_mixes_them(small):
    rows = drawn(8000, 8000)
    places = []
    for buffer in rows.split(BUFFER):
        blocks = (buffer // BLOCK).unique()
        assert len(blocks) == BUFFER // BLOCK
        places.append(float(blocks.double().mean()))
        assert not torch.equal(buffer, buffer.sort().values)
    # Blocks of a buffer are not neighbours: their places average out.
    assert np.std(places) < 0.3 * (8000 / BLOCK)
    first = rows.view(-1, BUFFER)[:, 0] % BLOCK
    assert len(first.unique()) == BLOCK  # a buffer does not begin where a block does


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_training_by_blocks_depends_on_the_seed_alone_and_learns_as_well(small):
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 3))
    y, groups = (X[:, 0] + 0.2 * random.normal(size=600) > 0).astype(int), np.arange(600) % 2
    # Sorted rows are the worst case: neighbours have the same label.
    order = np.argsort(X[:, 0])
    X, y, groups = X[order], y[order], groups[order]
    fits = [
        FairSmoothClassifier(
            solver="adam", sigma=0.1, max_iter=30, batch_size=40, learning_rate=0.05, random_state=0
        ).fit(X, y, sensitive_features=groups)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(fits[0].group_parameters_, fits[1].group_parameters_)
    assert fits[0].score(X, y) > 0.9
