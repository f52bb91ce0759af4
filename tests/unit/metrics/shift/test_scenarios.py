import numpy as np
import pytest

from fairsmooth.data.groups import encode_groups
from fairsmooth.exceptions import InputError
from fairsmooth.metrics.shift.scenarios import exponential_tilt, group_mix, label_shift, partitions


def test_partitions_have_their_share_of_rows():
    drawn = list(partitions(200, n_repeats=3))
    assert [scenario.strength for scenario in drawn] == [0.05, 0.10, 0.15, 0.30, 0.40]
    for scenario in drawn:
        assert scenario.weights.shape == (3, 200)
        assert (scenario.weights.sum(axis=1) == round(200 * scenario.strength)).all()
        assert set(np.unique(scenario.weights)) == {0.0, 1.0}
    assert (drawn[4].weights[0] != drawn[4].weights[1]).any()


def test_partitions_depend_on_the_seed_alone():
    first, again = (next(partitions(50, random_state=3)).weights for _ in range(2))
    other = next(partitions(50, random_state=4)).weights
    assert (first == again).all()
    assert (first != other).any()


def test_partitions_refuse_more_than_everything():
    with pytest.raises(InputError, match=r"Expected share between 0.0 and 1.0, got share=1.5"):
        list(partitions(10, shares=[1.5]))


def test_group_mix_sets_the_share_and_keeps_the_others_proportions():
    groups = encode_groups(list("aaabbbbbbc"), n_rows=10)
    for scenario in group_mix(groups):
        totals = np.bincount(groups.codes, weights=scenario.weights[0])
        shares = dict(zip("abc", totals / totals.sum(), strict=True))
        assert shares.pop(scenario.curve.removeprefix("group_mix:")) == pytest.approx(
            scenario.strength
        )
        counts = dict(zip("abc", groups.counts, strict=True))
        first, second = shares
        assert shares[first] / shares[second] == pytest.approx(counts[first] / counts[second])


def test_group_mix_needs_two_groups():
    assert not list(group_mix(encode_groups(["a"] * 4, n_rows=4)))


def test_group_mix_names_intersections_in_words():
    groups = encode_groups(np.array([["f", "x"], ["m", "y"]]), n_rows=2)
    assert next(group_mix(groups)).curve == "group_mix:f|x"


def test_label_shift_sets_the_share_of_positives():
    y = np.array([1, 0, 0, 0, 1])
    for scenario in label_shift(y):
        assert np.average(y, weights=scenario.weights[0]) == pytest.approx(scenario.strength)
    assert not list(label_shift(np.zeros(5, dtype=int)))


def test_a_tilt_moves_a_normal_column_by_its_strength():
    values = 3.0 + 2.0 * np.random.default_rng(0).normal(size=200_000)
    for scenario in exponential_tilt(values, name="age", strengths=[-0.5, 0.0, 1.0]):
        assert scenario.curve == "tilt:age"
        moved = np.average(values, weights=scenario.weights[0])
        assert moved == pytest.approx(3.0 + 2.0 * scenario.strength, abs=0.05)


def test_a_tilt_survives_extreme_values():
    weights = [s.weights for s in exponential_tilt([0.0] * 10**4 + [1.0], name="rare")]
    assert np.isfinite(weights).all()


def test_a_constant_column_cannot_be_tilted():
    with pytest.raises(InputError, match="Expected a column with finite values that vary, got 'c'"):
        list(exponential_tilt([1.0, 1.0], name="c"))


def test_group_mix_of_many_groups_changes_the_largest():
    """One curve per group for each group grew with the square of their number."""
    names = np.repeat([f"g{k:02d}" for k in range(30)], np.arange(30) + 1)
    groups = encode_groups(names, n_rows=len(names))
    mixed = {scenario.curve.removeprefix("group_mix:") for scenario in group_mix(groups)}
    assert mixed == {f"g{k:02d}" for k in range(10, 30)}
