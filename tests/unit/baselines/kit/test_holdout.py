import numpy as np
import torch

from fairsmooth.baselines._kit.holdout import hold_out
from fairsmooth.data.groups import Groups


def _rows(n_rows=501):
    rng = np.random.default_rng(0)
    return rng.integers(2, size=n_rows), Groups(("a", "b", "c"), rng.integers(3, size=n_rows))


def _split(fraction, seed=0):
    y, groups = _rows()
    return hold_out(y, groups, fraction, generator=torch.Generator().manual_seed(seed))


def test_parts_cover_all_rows_and_take_the_fraction_of_every_cell():
    y, groups = _rows()
    training, held = _split(0.3)
    np.testing.assert_array_equal(np.sort(np.concatenate([training, held])), np.arange(len(y)))
    for label in (0, 1):
        for group in range(3):
            cell = (y == label) & (groups.codes == group)
            assert cell[held.numpy()].sum() == int(0.3 * cell.sum())


def test_fraction_of_zero_holds_nothing_out():
    training, held = _split(0.0)
    assert len(training) == 501
    assert len(held) == 0


def test_choice_follows_the_generator():
    assert torch.equal(_split(0.3)[1], _split(0.3)[1])
    assert not torch.equal(_split(0.3)[1], _split(0.3, seed=1)[1])
