"""Samples in one array: each is added up as if it were alone."""

import numpy as np
import pytest

from fairsmooth.metrics.samples import Samples, order_by


@pytest.fixture
def parts():
    rng = np.random.default_rng(0)
    # Beside the block lengths of NumPy's sums; empty ones at both ends and side by side.
    sizes = [0, 1, 7, 8, 9, 0, 0, 128, 129, 1000, 20_000, 2, 0]
    return [rng.normal(size=size) for size in sizes]


def test_each_is_added_up_to_the_last_digit_as_if_alone(parts):
    samples = Samples.of(parts)
    np.testing.assert_array_equal(samples.sums, [part.sum() for part in parts])
    for found, part in zip(samples.means, parts, strict=True):
        assert found == part.mean() if len(part) else np.isnan(found)
    squares = [((part - part.mean()) ** 2).sum() if len(part) else 0.0 for part in parts]
    np.testing.assert_array_equal(samples.squares, squares)


def test_the_largest_is_at_least_zero(parts):
    found = Samples.of([*parts, [-2.0, -1.0]]).largest
    np.testing.assert_array_equal(found, [max([0.0, *part]) for part in parts] + [0.0])


def test_one_more_sample_follows(parts):
    samples = Samples.of(parts).followed_by([True, False, True])
    assert samples.counts.tolist() == [*map(len, parts), 3]
    assert samples.sums[-1] == 2.0
    np.testing.assert_array_equal(samples.sums[:-1], Samples.of(parts).sums)


def test_no_samples_have_no_sums():
    assert Samples.of([]).sums.tolist() == []


@pytest.mark.parametrize("n_codes", [1, 256, 257, 70_000])
def test_rows_are_ordered_by_code_and_stay_in_order(n_codes):
    codes = np.random.default_rng(0).integers(0, n_codes, 3000)
    codes[:2] = n_codes - 1, 0
    np.testing.assert_array_equal(order_by(codes, n_codes), np.argsort(codes, kind="stable"))
