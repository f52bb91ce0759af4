import numpy as np
import pandas as pd
import pytest

from fairsmooth.datasets import load_compas, make_biased, random_partition, with_group_ratio
from fairsmooth.exceptions import InputError


def share(data, group):
    return (data.sensitive_features == group).mean()


@pytest.mark.parametrize("ratio", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_group_has_the_ratio_up_to_one_row(ratio):
    data = load_compas("aif360", sensitive="race")
    part = with_group_ratio(data, "African-American", ratio)
    assert abs(share(part, "African-American") - ratio) <= 1 / len(part)


def test_only_one_side_loses_rows():
    data = load_compas("aif360", sensitive="race")
    assert (with_group_ratio(data, "Other", 0.9).sensitive_features == "Other").sum() == 2997
    lower = with_group_ratio(data, "Other", 0.1)
    assert (lower.sensitive_features == "African-American").sum() == 3175


def test_present_ratio_keeps_every_row():
    data = make_biased(200, group_weights=[1, 3])
    assert len(with_group_ratio(data, "g0", 0.25)) == 200


def test_further_ratios_keep_a_part_of_the_rows_of_nearer_ones():
    data = make_biased(400)
    far, near = (with_group_ratio(data, "g0", ratio).X["x0"] for ratio in (0.1, 0.3))
    assert set(far) < set(near) < set(data.X["x0"])


def test_the_others_keep_their_mix_on_average():
    data = make_biased(6000, n_groups=3, group_weights=[1, 1, 2])
    part = with_group_ratio(data, "g0", 0.5)
    # 1,500 of 4,500 others stay: the standard error of a share of 2/3 is .010.
    assert share(part, "g2") / 0.5 == pytest.approx(2 / 3, abs=0.04)


def test_intersectional_group():
    data = load_compas("aif360", sensitive=["sex", "race"])
    part = with_group_ratio(data, ("Female", "Other"), 0.5)
    counts = dict(zip(part.groups.labels, part.groups.counts, strict=True))
    assert counts[("Female", "Other")] * 2 == len(part)


def test_ratio_is_reproducible_and_follows_the_seed():
    data = make_biased(400)
    first, same, other = (with_group_ratio(data, "g1", 0.2, seed).X for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, same)
    assert set(first["x0"]) != set(other["x0"])


@pytest.mark.parametrize("ratio", [0.0, 1.0, -1.0, float("nan")])
def test_ratio_out_of_range(ratio):
    with pytest.raises(InputError, match="Expected 0 < ratio < 1, got ratio="):
        with_group_ratio(make_biased(100), "g0", ratio)


def test_ratio_that_leaves_nothing():
    with pytest.raises(InputError, match=r"outside group 'g0' \(50 of 100 rows\), got ratio=0.001"):
        with_group_ratio(make_biased(100), "g0", 0.001)


def test_unknown_group():
    with pytest.raises(InputError, match=r"group to be one of \['g0', 'g1'\], got 'Female'"):
        with_group_ratio(make_biased(100), "Female", 0.5)


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.15, 0.3, 0.4, 1.0])
def test_partition_is_a_sample_without_repeats(fraction):
    data = make_biased(1000)
    rows = random_partition(data, fraction).X["x0"]
    assert len(rows) == fraction * 1000
    assert rows.is_unique
    assert set(rows) <= set(data.X["x0"])


def test_partitions_overlap_but_are_not_nested():
    data = make_biased(1000)
    small, large = (set(random_partition(data, fraction).X["x0"]) for fraction in (0.3, 0.4))
    # 120 rows in common are expected; their standard deviation is 7.
    assert 85 < len(small & large) < 155


def test_partition_keeps_rows_together():
    data = make_biased(300)
    part = random_partition(data, 0.2)
    rows = np.flatnonzero(data.X["x0"].isin(part.X["x0"]))
    np.testing.assert_array_equal(part.y, data.y[rows])


@pytest.mark.parametrize("fraction", [0.0, 1.1, -0.5])
def test_fraction_out_of_range(fraction):
    with pytest.raises(InputError, match="Expected 0 < fraction <= 1, got fraction="):
        random_partition(make_biased(100), fraction)
