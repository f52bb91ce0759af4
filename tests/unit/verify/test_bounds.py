import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.unit.verify.forged import LISTS, NUMBERS, failures, model, write

from fairsmooth.core.certificate import certify
from fairsmooth.core.parameters import CENTERS
from fairsmooth.verify import verify
from fairsmooth.verify._bounds import DISTANCE, LIPSCHITZ, TOTAL_VARIATION
from fairsmooth.verify._exact import measure


@pytest.mark.parametrize("center", ["mean", "ball"])
@pytest.mark.parametrize("hidden", [(), (5,), (6, 3)])
@pytest.mark.parametrize("n_groups", [1, 2, 5])
def test_honest_files_hold(path, n_groups, hidden, center):
    verification = verify(write(path, *model(n_groups, hidden, center=center)))
    assert verification.holds, str(verification)
    assert len(str(verification).splitlines()) == len(verification.checks) == 14


@pytest.mark.parametrize("sigma", [1e-300, 1e-3, 1.0, 1e6, 1e300])
@pytest.mark.parametrize("scale", [1e-320, 1e-310, 1e-160, 1e-8, 1.0, 1e8, 1e160, 1e307])
def test_honest_files_hold_at_every_magnitude(path, sigma, scale):
    for seed in range(4):
        plain, tensors = model(4, sigma=sigma, scale=scale, seed=seed)
        verification = verify(write(path, plain, tensors))
        assert verification.holds, str(verification)


def test_identical_groups_need_no_noise(path):
    plain, tensors = model(3, sigma=0.0, scale=0.0)
    assert plain["certificate"]["epsilon"] == 0.0
    assert verify(write(path, plain, tensors)).holds


def test_without_noise_only_no_bound_is_true(path):
    plain, tensors = model(3, sigma=0.0)
    assert plain["certificate"]["epsilon"] is None
    assert verify(write(path, plain, tensors)).holds
    plain["certificate"]["epsilon"] = 1e300
    plain["certificate"]["epsilon_tight"] = math.nextafter(1.0, 0.0)
    assert set(failures(write(path, plain, tensors))) == {"epsilon", "epsilon_tight"}


def rigorous(tensors, sigma, name, k):
    """The value in mpmath with 60 digits, by the plain formula."""
    mpmath.mp.dps = 60
    groups = [[mpmath.mpf(v) for v in row] for row in tensors["group_parameters"].tolist()]
    overall = [mpmath.mpf(v) for v in tensors["parameters"].tolist()]

    def distance(a, b):
        return mpmath.sqrt(mpmath.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True)))

    radii = [distance(row, overall) for row in groups]
    largest = max(distance(a, b) for a in groups for b in groups)
    unit = mpmath.sqrt(2 * mpmath.pi) * mpmath.mpf(sigma)
    tight = [2 * mpmath.ncdf(r / (2 * mpmath.mpf(sigma))) - 1 for r in radii]
    n = len(groups)
    return {
        "max_distance": largest,
        "epsilon": max((n - 1) * largest / n, *radii) / unit,
        "epsilon_tight": max(tight),
        "distances": radii[k],
        "epsilon_by_group": tight[k],
        "epsilon_linear_by_group": radii[k] / unit,
    }[name]


def neighbours(value):
    """The two floats around a real number that no float equals."""
    nearest = float(value)
    if mpmath.mpf(nearest) >= value:
        return math.nextafter(nearest, -math.inf), nearest
    return nearest, math.nextafter(nearest, math.inf)


@pytest.mark.parametrize("name", [*NUMBERS, *LISTS])
@pytest.mark.parametrize("seed", range(5))
def test_the_last_digit_decides(path, name, seed):
    sigma, k = 0.3 + 0.1 * seed, seed % 3
    plain, tensors = model(3, (2,), sigma=sigma, seed=seed, scale=0.2)
    below, above = neighbours(rigorous(tensors, sigma, name, k))
    certificate = plain["certificate"]
    for number, accepted in ((below, False), (above, True)):
        if name in LISTS:
            certificate[name][k] = number
        else:
            certificate[name] = number
        write(path, plain, tensors)
        if accepted:
            assert verify(path).holds
        else:
            assert set(failures(path)) == {name}


def test_a_distance_that_is_a_float_is_accepted_exactly(path):
    plain, tensors = model(2)
    tensors["group_parameters"] = np.array([[3.0, 0, 0, 0, 1], [-3.0, 0, 0, 8, 1]])
    tensors["parameters"] = tensors["group_parameters"].mean(axis=0)
    plain["certificate"] |= certify(
        tensors["group_parameters"], sigma=0.5, groups=plain["groups"]
    ).to_dict()
    plain["certificate"] |= {"max_distance": 10.0, "distances": [5.0, 5.0]}
    assert verify(write(path, plain, tensors)).holds
    plain["certificate"]["max_distance"] = math.nextafter(10.0, 0.0)
    assert set(failures(write(path, plain, tensors))) == {"max_distance"}


def test_the_paper_s_bound_covers_a_center_that_is_not_the_mean(path):
    plain, tensors = model(3, center="ball", sigma=0.5)
    tensors["parameters"] = tensors["parameters"] + 5.0  # as far from all as nobody from another
    certificate = plain["certificate"]
    for name in LISTS:
        certificate[name] = [above(tensors, 0.5, name, k) for k in range(3)]
    certificate["epsilon_tight"] = above(tensors, 0.5, "epsilon_tight", 0)
    certificate["epsilon"] = above(tensors, 0.5, "epsilon", 0)
    assert verify(write(path, plain, tensors)).holds
    # Theorem 2's (K - 1) d / (√(2π) K σ) alone: true of the mean, not of this centre.
    certificate["epsilon"] = (2 / 3) * certificate["max_distance"] / math.sqrt(2 * math.pi) / 0.5
    assert certificate["epsilon"] < max(certificate["epsilon_linear_by_group"])
    assert set(failures(write(path, plain, tensors))) == {"epsilon"}


def above(tensors, sigma, name, k):
    return neighbours(rigorous(tensors, sigma, name, k))[1]


def test_exact_distances_against_fractions():
    rng = np.random.default_rng(1)
    for _ in range(30):
        weights = rng.normal(size=(3, 7)) * 10.0 ** rng.uniform(-320, 300, size=(3, 7))
        weights[rng.random(weights.shape) < 0.2] = 0.0
        overall = CENTERS["mean"](weights)
        geometry = measure(weights, overall)
        rows = [[Fraction(v) for v in row] for row in [*weights.tolist(), overall.tolist()]]
        square = [
            [sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) for b in rows] for a in rows
        ]
        assert geometry.squared_radii == tuple(square[3][:3])
        assert geometry.squared_max_distance == max(max(row[:3]) for row in square[:3])
        assert geometry.is_mean


def test_bounds_are_decided_for_perfect_squares_and_extremes():
    rng = np.random.default_rng(2)
    for number in (10.0 ** rng.uniform(-300, 300, size=300)).tolist():
        assert DISTANCE.admits(number, Fraction(number) ** 2, sigma=1.0)
        below = math.nextafter(number, 0.0)
        assert not DISTANCE.admits(below, Fraction(number) ** 2, sigma=1.0)
    far = Fraction(10) ** 600
    assert TOTAL_VARIATION.admits(1.0, far, sigma=1e-300)
    assert not TOTAL_VARIATION.admits(math.nextafter(1.0, 0.0), far, sigma=1e-300)
    assert not LIPSCHITZ.admits(1.7e308, far, sigma=1e-300)
    assert LIPSCHITZ.admits(math.inf, far, sigma=0.0)
    assert not LIPSCHITZ.admits(0.0, Fraction(1, 10**600), sigma=1e300)
    assert LIPSCHITZ.admits(5e-324, Fraction(1, 10**600), sigma=1e300)
    assert not LIPSCHITZ.admits(-0.1, Fraction(0), sigma=1.0)
