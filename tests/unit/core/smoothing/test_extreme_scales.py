"""Scores at sizes that squares cannot have, and at noise levels next to none."""

import mpmath
import numpy as np
import pytest
import torch

from fairsmooth.core.architecture import Network
from fairsmooth.core.few_rows import linear_scores_and_intervals
from fairsmooth.core.smoothing import smooth_network, smooth_probability

CASES = [
    ([1e-100, 7e-101, 0.0], [1e101, 5e100], 1e-150),
    ([1e-100, 7e-101, -9.0], [1e101, -5e100], 1e-150),
    ([1e100, 7e99, 0.0], [1e90, 5e89], 1e100),
    ([1.0, -0.5, 3.0], [1e200, 1e200], 0.5),
    ([1e-200, 1e-200, 2.0], [1e199, 1e199], 1e-210),
    ([1e150, 0.0, -1e300], [1e150, 1.0], 1e150),
    ([2.0, -1.0, 0.5], [1.0, 0.3], 0.7),
]


def exact(parameters, row, sigma, link):
    """Return the smooth score from its definition, in 60 digits."""
    with mpmath.workdps(60):
        *weights, bias = (mpmath.mpf(w) for w in parameters)
        row = [mpmath.mpf(x) for x in row]
        mean = sum(w * x for w, x in zip(weights, row, strict=True)) + bias
        scale = mpmath.mpf(sigma) * mpmath.sqrt(sum(x * x for x in row) + 1)
        if link == "probit":
            return float(mpmath.ncdf(mean / mpmath.sqrt(1 + scale**2)))
        if scale > 1e6:  # the logistic is a step to noise as wide as this
            return float(mpmath.ncdf(mean / scale))
        points = mpmath.linspace(-12, 12, 49)
        value = mpmath.quad(
            lambda z: mpmath.npdf(z) / (1 + mpmath.exp(-(mean + scale * z))), points
        )
        return float(value)


@pytest.mark.parametrize("link", ["probit", "logistic"])
@pytest.mark.parametrize(("parameters", "row", "sigma"), CASES)
def test_scores_are_exact_at_any_scale(parameters, row, sigma, link):
    expected = exact(parameters, row, sigma, link)
    weights, rows = np.array(parameters), np.array([row] * 2)
    found, ends = smooth_probability(
        (), weights, rows, sigma=sigma, link=link, return_interval=True
    )
    others, other_ends = linear_scores_and_intervals(weights, rows, sigma=sigma, link=link)
    for score, (low, high) in ((found[0], ends[0]), (others[1], other_ends[1])):
        assert score == pytest.approx(expected, abs=1e-9)
        assert low <= expected <= high


@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_intervals_allow_for_large_numbers_that_cancel_in_a_logit(link):
    rng = np.random.default_rng(0)
    for _ in range(20):
        row, weights = 1e3 * rng.normal(size=4), 1e5 * rng.normal(size=4)
        parameters = np.append(weights, -(weights @ row))
        expected = exact(parameters, row, 1e-4, link)
        _, ends = smooth_probability(
            (), parameters, row[None], sigma=1e-4, link=link, return_interval=True
        )
        _, others = linear_scores_and_intervals(parameters, row[None], sigma=1e-4, link=link)
        for low, high in (ends[0], others[0]):
            assert low <= expected <= high
            assert high - low < 1e-5


def test_a_linear_score_that_rounding_hides_is_announced():
    with pytest.warns(UserWarning, match="1 of 1 rows ends at rounding, since huge numbers cancel"):
        smooth_probability((), [1e14, -1e14, 0.3], [[1.0, 1.0]], sigma=0.5)


def test_large_rows_of_several_models_are_scored_together():
    network, X = Network(2), torch.tensor([[1e200, 1e199], [1.0, 2.0]], dtype=torch.float64)
    parameters = torch.tensor([[1.0, 2.0, 0.0], [-1.0, 0.5, 1.0]], dtype=torch.float64)
    together = smooth_network(network, parameters, X, sigma=0.5, link="logistic")
    apart = [smooth_network(network, w, X, sigma=0.5, link="logistic") for w in parameters]
    torch.testing.assert_close(together, torch.stack(apart))


@pytest.mark.parametrize("n_rows", [2, 40])
@pytest.mark.parametrize("link", ["probit", "logistic"])
@pytest.mark.parametrize("activation", ["tanh", "silu"])
@pytest.mark.parametrize("sigma", [1e-12, 1e-6, 1e-4])
def test_smooth_units_with_next_to_no_noise_are_the_network_itself(sigma, activation, link, n_rows):
    generator = torch.Generator().manual_seed(3)
    network = Network(3, (16,), activation)
    parameters = torch.randn(network.n_parameters, generator=generator, dtype=torch.float64)
    X = torch.randn(n_rows, 3, generator=generator, dtype=torch.float64)
    found = smooth_network(network, parameters, X, sigma=sigma, link=link)
    expected = smooth_network(network, parameters, X, sigma=0.0, link=link)
    # By Lemma 2 noise moves a score by little; computing it errs by less than 5e-7.
    torch.testing.assert_close(found, expected, rtol=0.0, atol=2e-6)


@pytest.mark.parametrize("link", ["probit", "logistic"])
@pytest.mark.parametrize("activation", ["relu", "tanh", "silu"])
def test_every_row_keeps_its_gradient_where_a_bound_corrects_its_score(activation, link):
    generator = torch.Generator().manual_seed(1)
    network = Network(4, (6,), activation)
    parameters = torch.randn(network.n_parameters, generator=generator, dtype=torch.float64)
    X = 2.0 * torch.randn(60, 4, generator=generator, dtype=torch.float64)

    def gradients(sigma):
        own = parameters.expand(len(X), -1).clone().requires_grad_()
        score = smooth_network(network, own, X.unsqueeze(1), sigma=sigma, link=link)
        return torch.autograd.grad(score.sum(), own)[0]

    # Scores of 1e-4 are as near to Chernoff's bound as they are wrong; their slopes are 1e-4.
    torch.testing.assert_close(gradients(1e-7), gradients(0.0), rtol=0.0, atol=2e-5)
