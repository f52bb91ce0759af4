import math
from fractions import Fraction

import numpy as np
import pytest

from fairsmooth.core.outward import (
    largest_distance_up,
    lower_text,
    norms_up,
    ordered_sum,
    upper_text,
)
from fairsmooth.core.parameters import CENTERS, mean_center


def layouts(values):
    """The same numbers in every memory order."""
    wide = np.zeros((2 * len(values), 3 * values.shape[1]))
    wide[::2, ::3] = values
    return values, np.asfortranarray(values), wide[::2, ::3], values[::-1].copy()[::-1]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1000])
def test_sums_follow_one_tree_whatever_the_memory_order(n):
    values = np.random.default_rng(n).normal(size=(n, 5)) * 10.0 ** np.arange(5)
    sums = {ordered_sum(layout).tobytes() for layout in layouts(values)}
    assert len(sums) == 1
    exact = [float(sum(map(Fraction, column))) for column in values.T.tolist()]
    np.testing.assert_allclose(ordered_sum(values), exact, rtol=1e-12, atol=1e-9)


def test_the_tree_is_the_documented_one():
    a, b, c, d, e = values = np.array([1.0, 2.0**-53, 2.0**-53, -1.0, 2.0**-60])
    assert ordered_sum(values) == ((a + c) + (b + d)) + e
    assert ordered_sum(values) != math.fsum(values)


@pytest.mark.parametrize("center", CENTERS)
def test_centres_do_not_depend_on_the_memory_order(center):
    values = np.random.default_rng(0).normal(size=(12, 101))
    assert len({CENTERS[center](layout).tobytes() for layout in layouts(values)}) == 1


def test_the_mean_of_equal_rows_is_the_row():
    row = np.random.default_rng(0).normal(size=9)
    np.testing.assert_array_equal(mean_center(np.tile(row, (7, 1))), row)


@pytest.mark.parametrize("scale", [1e-320, 1e-160, 1.0, 1e150, 1e300])
def test_the_largest_distance_is_bounded_and_close(scale):
    rng = np.random.default_rng(3)
    points = scale * rng.normal(size=(6, 9)) * 10.0 ** rng.uniform(-8, 0, size=(6, 9))
    exact = [[Fraction(v) for v in row] for row in points.tolist()]
    squared = max(
        sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) for a in exact for b in exact
    )
    bound = largest_distance_up(points)
    assert Fraction(bound) ** 2 >= squared
    assert Fraction(bound * (1 - 1e-13) - 1e-322) ** 2 <= squared
    pairs = max(float(norms_up(points - row).max()) for row in points)
    assert bound == pytest.approx(pairs, rel=1e-14, abs=1e-322)
    assert len({largest_distance_up(layout) for layout in layouts(points)}) == 1


def test_distances_outside_the_range_have_no_bound():
    assert largest_distance_up(np.array([[1.7e308], [-1.7e308]])) == math.inf
    assert largest_distance_up(np.array([[1.7e308, 0.0], [0.0, 1.7e308]])) == math.inf
    assert largest_distance_up(np.ones((3, 2))) == largest_distance_up(np.ones((1, 2))) == 0.0
    assert norms_up(np.array([[np.inf, 0.0], [0.0, 0.0], [np.nan, 1.0]])).tolist() == [
        math.inf,
        0.0,
        math.inf,
    ]


def test_printed_bounds_err_on_the_safe_side():
    rng = np.random.default_rng(0)
    for value in (rng.normal(size=500) * 10.0 ** rng.uniform(-12, 12, 500)).tolist():
        for digits in (1, 4, 6):
            for significant in (False, True):
                up = upper_text(value, digits, significant=significant)
                down = lower_text(value, digits, significant=significant)
                assert Fraction(down) <= Fraction(value) <= Fraction(up)
                unit = 10.0 ** (math.floor(math.log10(abs(value))) + 1 - digits)
                width = Fraction(up) - Fraction(down)
                assert width <= 1.001 * (unit if significant else 10.0**-digits)


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [
        (0.0021479, "0.0022", "0.0021"),
        (0.25, "0.2500", "0.2500"),
        (0.1, "0.1001", "0.1000"),  # the float64 is a little more than a tenth
        (1e300, "1.001e+300", "1.000e+300"),
        (math.inf, "no bound", "no bound"),
        (math.nan, "no bound", "no bound"),
    ],
)
def test_printed_bounds_by_hand(value, up, down):
    assert upper_text(value) == up
    assert lower_text(value) == down


@pytest.mark.parametrize("seed", range(12))
def test_the_farthest_pair_is_found_among_all(seed):
    """Pruned by a product of matrices, the same bits come out as from every pair."""
    random = np.random.default_rng(seed)
    points = random.normal(size=(random.integers(2, 60), random.integers(1, 40)))
    points = points * 10.0 ** random.integers(-150, 100)
    if seed % 3 == 0:  # far from 0, close to each other
        points = 1e3 + points / np.abs(points).max() * 1e-12
    if seed % 4 == 0:  # many pairs equally far
        points = np.sign(points)
    pairs = [largest_distance_up(points[[i, j]]) for i in range(len(points)) for j in range(i)]
    assert largest_distance_up(points) >= max(pairs) * (1.0 - 1e-15)
    assert largest_distance_up(points) <= max(pairs) * (1.0 + 1e-14)
