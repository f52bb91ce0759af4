import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairsmooth.data.groups import Groups
from fairsmooth.exceptions import InputError
from fairsmooth.training.batching import (
    cyclic_batches,
    draw_rows,
    rows_by_cell,
    shuffled_batches,
)

sizes = st.integers(1, 40)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@given(n_rows=sizes, batch_size=sizes)
def test_an_epoch_is_every_row_once(n_rows, batch_size):
    batches = list(shuffled_batches(n_rows, batch_size, generator=generator()))
    assert torch.cat(batches).sort().values.tolist() == list(range(n_rows))
    assert {len(batch) for batch in batches[:-1]} <= {batch_size}


@given(n_rows=sizes, batch_size=sizes)
def test_dropping_the_last_leaves_whole_batches_or_the_only_one(n_rows, batch_size):
    batches = list(shuffled_batches(n_rows, batch_size, generator=generator(), drop_last=True))
    assert len(batches) == max(n_rows // batch_size, 1)
    assert {len(batch) for batch in batches} == {min(n_rows, batch_size)}


def test_successive_epochs_differ_and_seeds_repeat():
    stream = generator()
    first, second = (next(shuffled_batches(50, 50, generator=stream)) for _ in range(2))
    again = next(shuffled_batches(50, 50, generator=generator()))
    assert not torch.equal(first, second)
    assert torch.equal(first, again)


def test_cells_hold_the_rows_of_one_label_and_one_group():
    random = np.random.default_rng(0)
    y, codes = random.integers(0, 2, 60), random.integers(0, 3, 60)
    cells = rows_by_cell(y, Groups(("a", "b", "c"), codes))
    for label in (0, 1):
        for group in range(3):
            expected = np.flatnonzero((y == label) & (codes == group))
            assert cells[label][group].tolist() == expected.tolist()


@given(n_rows=sizes, count=st.integers(0, 100))
def test_no_row_is_drawn_more_than_once_oftener_than_another(n_rows, count):
    rows = torch.arange(n_rows) * 3
    drawn = draw_rows(rows, count, generator=generator())
    times = np.bincount(drawn.numpy() // 3, minlength=n_rows)
    assert len(drawn) == count
    assert times.max() - times.min() <= 1


def test_drawing_is_uniform():
    stream = generator()
    firsts = [int(draw_rows(torch.arange(4), 1, generator=stream)) for _ in range(4000)]
    # Four standard errors of a share of 1/4 among 4,000 draws.
    assert np.abs(np.bincount(firsts) / 4000 - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / 4000)


def test_drawing_from_an_empty_cell_is_refused():
    with pytest.raises(InputError, match="Expected rows to draw from, got an empty cell"):
        draw_rows(torch.arange(0), 2, generator=generator())


def test_batches_take_the_asked_number_of_rows_from_every_cell():
    cells = torch.arange(0, 7), torch.arange(10, 13), torch.arange(20, 25)
    batches = cyclic_batches(cells, (2, 4, 0), 9, generator=generator())
    assert batches.shape == (9, 6)
    assert all((batch < 10).sum() == 2 and (batch >= 20).sum() == 0 for batch in batches)


def test_a_cell_is_consumed_in_one_order_with_wrap_around():
    used = cyclic_batches((torch.arange(5),), (3,), 5, generator=generator()).flatten()
    assert torch.equal(used[:5], used[5:10])
    assert torch.equal(used[:5], used[10:15])
    assert used[:5].sort().values.tolist() == [0, 1, 2, 3, 4]


def test_batches_without_rows_are_refused():
    with pytest.raises(InputError, match=r"Expected at least one batch size > 0, got \(0,\)"):
        cyclic_batches((torch.arange(5),), (0,), 5, generator=generator())
