"""The worst reweighting within a ball: duals against closed forms and a convex solver."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from fairsmooth.metrics.shift.worst_case import largest_mean, smallest_mean

CHI_SQUARE = (0.001, 0.05, 0.3, 1.0, 2.5)
HELLINGER = (0.001, 0.05, 0.2, 0.5, 0.7)
BALLS = [("chi_square", CHI_SQUARE), ("hellinger", HELLINGER)]


def slack(ball, weights, radius):
    """How much of the radius the weights leave."""
    uniform = np.full(len(weights), 1 / len(weights))
    if ball == "chi_square":
        return radius - ((weights - uniform) ** 2 / uniform).sum()
    return radius**2 - 1 + np.sqrt(np.maximum(weights, 0.0) * uniform).sum()


def solved(values, ball, radius):
    """The same problem by sequential quadratic programming over the weights themselves."""
    n = len(values)
    starts = [np.full(n, 1 / n), np.random.default_rng(0).dirichlet(np.full(n, 20.0))]
    best = -np.inf
    for start in starts:
        result = minimize(
            lambda w: -(w @ values),
            start,
            bounds=[(1e-14, 1.0)] * n,
            constraints=[
                {"type": "eq", "fun": lambda w: w.sum() - 1},
                {"type": "ineq", "fun": lambda w: slack(ball, w, radius)},
            ],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-13},
        )
        if slack(ball, result.x, radius) > -1e-9 and abs(result.x.sum() - 1) < 1e-9:
            best = max(best, -result.fun)
    return best


@pytest.mark.parametrize(("ball", "radii"), BALLS)
def test_duals_agree_with_a_convex_solver(ball, radii):
    rng = np.random.default_rng(5)
    for _ in range(4):
        values = rng.uniform(size=rng.integers(2, 9))
        if rng.random() < 0.4:
            values = values.round(1)
        largest = largest_mean(values, ball=ball, radii=radii)
        assert largest == pytest.approx([solved(values, ball, r) for r in radii], abs=1e-7)


@pytest.mark.parametrize(("ball", "radii"), BALLS)
def test_no_feasible_weights_do_better(ball, radii):
    rng = np.random.default_rng(6)
    values = rng.beta(0.5, 0.5, size=12)
    candidates = rng.dirichlet(np.full(12, 3.0), size=4000)
    reached = candidates @ values
    for radius in radii:
        inside = np.array([slack(ball, w, radius) >= 0 for w in candidates])
        if inside.any():
            ends = (
                smallest_mean(values, ball=ball, radii=[radius])[0],
                largest_mean(values, ball=ball, radii=[radius])[0],
            )
            assert ends[0] - 1e-12 <= reached[inside].min()
            assert reached[inside].max() <= ends[1] + 1e-12


def test_chi_square_of_small_radius_is_mean_plus_deviations():
    values = np.random.default_rng(7).uniform(size=1000)
    radii = np.array([1e-4, 1e-3, 1e-2])
    # While no weight is 0 the maximum is the mean plus sqrt(radius) standard deviations.
    expected = values.mean() + np.sqrt(radii) * values.std()
    assert largest_mean(values, ball="chi_square", radii=radii) == pytest.approx(
        expected, abs=1e-13
    )


@pytest.mark.parametrize("share", [0.02, 0.3, 0.8])
def test_two_values_have_closed_forms(share):
    n = 1000
    values = np.repeat([1.0, 0.0], [round(share * n), n - round(share * n)])
    chi = largest_mean(values, ball="chi_square", radii=CHI_SQUARE)
    expected = np.minimum(1.0, share + np.sqrt(np.array(CHI_SQUARE) * share * (1 - share)))
    assert chi == pytest.approx(expected, abs=1e-12)
    found = largest_mean(values, ball="hellinger", radii=HELLINGER)
    # The overlap of two coins is the cosine of the angle between their square roots.
    angle = np.arcsin(np.sqrt(share)) + np.arccos(1 - np.array(HELLINGER) ** 2)
    assert found == pytest.approx(np.sin(np.minimum(angle, np.pi / 2)) ** 2, abs=1e-9)


def test_uniform_values_approach_the_integral():
    n = 200_001
    values = np.linspace(0.0, 1.0, n)
    radius = 1.0

    # Density 2(v - a)/(1 - a)^2 on [a, 1] has second moment 4/(3(1 - a)).
    cut = brentq(lambda a: 4 / (3 * (1 - a)) - 1 - radius, 0.0, 0.9)
    expected = cut + 2 * (1 - cut) / 3
    assert largest_mean(values, ball="chi_square", radii=[radius])[0] == pytest.approx(
        expected, abs=1e-4
    )


def test_certificate_bounds_every_worst_case():
    rng = np.random.default_rng(8)
    own = rng.uniform(size=500)
    epsilon = 0.04
    overall = np.clip(own + rng.uniform(-epsilon, epsilon, 500), 0, 1)
    for ball, radii in BALLS:
        for extreme in (largest_mean, smallest_mean):
            difference = extreme(overall, ball=ball, radii=radii) - extreme(
                own, ball=ball, radii=radii
            )
            assert np.abs(difference).max() <= epsilon
