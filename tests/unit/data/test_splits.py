import numpy as np
import pytest

from fairsmooth.data.groups import Groups
from fairsmooth.data.splits import hold_out, random_rows, stratified_mask


def _rows(n_rows=501):
    rng = np.random.default_rng(0)
    return rng.integers(2, size=n_rows), Groups(("a", "b", "c"), rng.integers(3, size=n_rows))


def _split(share, seed=0, **how):
    y, groups = _rows()
    permute = np.random.default_rng(seed).permutation
    return hold_out(2 * groups.codes + y, share, permute=permute, **how)


@pytest.mark.parametrize("whole", [round, int])
def test_parts_cover_all_rows_and_take_the_share_of_every_cell(whole):
    y, groups = _rows()
    training, held = _split(0.3, whole=whole)
    np.testing.assert_array_equal(np.sort(np.concatenate([training, held])), np.arange(len(y)))
    for label in (0, 1):
        for group in range(3):
            cell = (y == label) & (groups.codes == group)
            assert cell[held].sum() == whole(0.3 * cell.sum())


def test_a_cell_keeps_a_row_even_where_almost_all_are_held_out():
    kept, held = hold_out(
        np.array([0, 0, 2, 2, 2]), 0.99, permute=np.random.default_rng(0).permutation
    )
    assert (len(kept), len(held)) == (2, 3)


def test_share_of_zero_holds_nothing_out():
    training, held = _split(0.0)
    assert len(training) == 501
    assert len(held) == 0


def test_choice_follows_the_generator():
    assert np.array_equal(_split(0.3)[1], _split(0.3)[1])
    assert not np.array_equal(_split(0.3)[1], _split(0.3, seed=1)[1])


def test_stratified_rows_are_as_many_as_asked_for_in_every_cell():
    y, groups = _rows()
    cells = 2 * groups.codes + y
    mask = stratified_mask(cells, 0.3, permute=np.random.default_rng(0).permutation)
    assert mask.sum() == round(0.3 * len(y))
    for cell in range(6):
        assert abs(mask[cells == cell].sum() - 0.3 * (cells == cell).sum()) <= 1


def test_random_rows_are_distinct_and_in_order():
    rows = random_rows(100, 30, permute=np.random.default_rng(0).permutation)
    assert len(rows) == 30
    assert (np.diff(rows) > 0).all()
