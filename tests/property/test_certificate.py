"""Properties every certificate has, hunted with inputs large and tiny."""

import math

import mpmath as mp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairsmooth.core.certificate import certify
from fairsmooth.core.outward import lipschitz_up, norm_up, total_variation_up
from fairsmooth.core.parameters import mean_center

SIGMAS = st.floats(1e-3, 1e3)
SIZES = st.tuples(st.integers(2, 6), st.integers(1, 8))


def parameters(low=-1e3, high=1e3):
    return SIZES.flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.floats(low, high, allow_subnormal=True))
    )


@given(parameters(), SIGMAS)
def test_tight_is_below_linear_is_below_paper(W, sigma):
    c = certify(W, sigma=sigma)
    for group in c.groups:
        assert c.epsilon_by_group[group] <= c.epsilon_linear_by_group[group] <= c.epsilon
        assert 0.0 <= c.epsilon_by_group[group] <= 1.0


@given(parameters(), SIGMAS, st.floats(0, 1))
def test_half_width_of_the_interval_is_below_tight(W, sigma, p):
    c = certify(W, sigma=sigma)
    for group in c.groups:
        low, high = c.interval(p, group)
        assert 0.0 <= low <= p <= high <= 1.0
        rounding = 4 * np.finfo(float).eps
        assert max(p - low, high - p) <= c.epsilon_by_group[group] + rounding


@given(parameters(), SIGMAS, st.randoms())
def test_order_of_groups_is_irrelevant(W, sigma, random):
    order = list(range(len(W)))
    random.shuffle(order)
    first, second = certify(W, sigma=sigma), certify(W[order], sigma=sigma, groups=order)
    assert first.max_distance == second.max_distance
    assert math.isclose(first.epsilon, second.epsilon, rel_tol=1e-12, abs_tol=1e-300)
    for group in first.groups:
        # The mean is summed in another order, so W* may differ by a rounding error.
        scale = np.abs(W).max()
        assert abs(first.distances[group] - second.distances[group]) <= 1e-14 * scale


@given(parameters(), SIGMAS, st.integers(-20, 20))
def test_scaling_parameters_and_sigma_together_changes_nothing(W, sigma, exponent):
    W = np.where(np.abs(W) < 1e-200, 0.0, W)  # so that scaling by a power of two is exact
    factor = 2.0**exponent
    first, second = certify(W, sigma=sigma), certify(W * factor, sigma=sigma * factor)
    assert math.isclose(first.epsilon, second.epsilon, rel_tol=1e-12)
    assert math.isclose(first.epsilon_tight, second.epsilon_tight, rel_tol=1e-12)


@given(
    arrays(np.float64, st.integers(1, 10), elements=st.floats(-1e3, 1e3)), st.integers(2, 7), SIGMAS
)
def test_equal_groups_give_zero(row, n_groups, sigma):
    c = certify(np.tile(row, (n_groups, 1)), sigma=sigma)
    assert c.epsilon == 0.0
    assert set(c.epsilon_by_group.values()) == {0.0}


@given(parameters(-1e-150, 1e-150) | parameters(-1e150, 1e150) | parameters(), SIGMAS)
def test_every_number_is_at_least_the_exact_one(W, sigma):
    c = certify(W, sigma=sigma)
    center = mean_center(W)
    with mp.workdps(60):
        root = mp.sqrt(2 * mp.pi)
        exact = [[mp.mpf(float(v)) for v in row] for row in W]
        middle = [mp.mpf(float(v)) for v in center]
        pairs = [mp.norm([a - b for a, b in zip(x, y, strict=True)]) for x in exact for y in exact]
        d, K = max(pairs), len(W)
        assert mp.mpf(c.max_distance) >= d
        if math.isfinite(c.epsilon):
            assert mp.mpf(c.epsilon) >= (K - 1) * d / (root * K * mp.mpf(sigma))
        for group, row in zip(c.groups, exact, strict=True):
            r = mp.norm([a - b for a, b in zip(row, middle, strict=True)])
            assert mp.mpf(c.distances[group]) >= r
            assert mp.mpf(c.epsilon_by_group[group]) >= mp.erf(r / (2 * mp.sqrt(2) * mp.mpf(sigma)))
            if math.isfinite(c.epsilon_linear_by_group[group]):
                assert mp.mpf(c.epsilon_linear_by_group[group]) >= r / (root * mp.mpf(sigma))


@given(st.floats(1e-6, 1 - 1e-6), st.floats(1e-8, 8.0))
def test_interval_contains_the_exact_one(p, shift):
    c = certify([[0.0], [2.0 * shift]], sigma=1.0)
    low, high = c.interval(p, 1)
    with mp.workdps(60):
        quantile = mp.sqrt(2) * mp.erfinv(2 * mp.mpf(p) - 1)
        assert mp.mpf(float(low)) <= mp.ncdf(quantile - shift)
        assert mp.mpf(float(high)) >= mp.ncdf(quantile + shift)


@given(arrays(np.float64, st.integers(1, 200), elements=st.floats(-1e300, 1e300)))
def test_norm_bound_is_above_and_close(vector):
    bound = norm_up(vector)
    with mp.workdps(60):
        exact = mp.norm([mp.mpf(float(v)) for v in vector])
        if math.isfinite(bound):
            assert mp.mpf(bound) >= exact
            assert bound <= float(exact) * (1 + 1e-12) + 1e-323


@given(st.floats(1e-300, 1e3), st.floats(1e-3, 1e3))
def test_bounds_grow_with_distance(distance, sigma):
    assert lipschitz_up(distance, sigma) <= lipschitz_up(1.01 * distance, sigma)
    assert total_variation_up(distance, sigma) <= total_variation_up(1.01 * distance, sigma)
