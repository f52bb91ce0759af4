import importlib
import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from benchmarks._reference import Layer, reference_score

from fairsmooth.core.architecture import ACTIVATIONS, Network
from fairsmooth.core.deviations import bernstein_radius
from fairsmooth.core.smoothing import smooth_network, smooth_probability
from fairsmooth.core.smoothing.confidence import RunningScores
from fairsmooth.core.smoothing.linear import LINKS, apply_link


def problem(network, n_rows=4, seed=0, size=1.0):
    generator = torch.Generator().manual_seed(seed)
    parameters = size * torch.randn(network.n_parameters, generator=generator, dtype=torch.float64)
    return parameters, torch.randn(n_rows, network.n_features, generator=generator).double()


@pytest.mark.parametrize("sizes", [(), (1,), (6,), (5, 4), (4, 3, 2)])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("sigma", [0.1, 1.0])
def test_agrees_with_naive_sampling_within_its_own_error(sizes, activation, link, sigma):
    network = Network(3, sizes, activation)
    parameters, X = problem(network)
    ours = smooth_probability(network, parameters, X, sigma=sigma, link=link, n_draws=2048)
    generator = torch.Generator().manual_seed(9)
    n_draws = 20_000
    noise = torch.randn(n_draws, network.n_parameters, generator=generator, dtype=torch.float64)
    scores = apply_link(network.logits(parameters + sigma * noise, X), link)
    standard_error = scores.std(0) / math.sqrt(n_draws)
    # 360 comparisons: five standard errors leave a chance of 2e-4. The estimated standard error
    # misses events that never occurred; Bernstein's second term, 30/n, allows for them.
    naive_error = 5.0 * standard_error + 30.0 / n_draws
    ours_error = 1e-6 if len(sizes) < 2 else 3e-3
    assert ((ours - scores.mean(0)).abs() <= naive_error + ours_error).all()


@pytest.mark.parametrize("sizes", [(), (5,)])
def test_lemma_1_derivative_is_the_gaussian_formula(sizes):
    # P(W)δ = E[f(W + σZ) Z·δ] / σ, here by antithetic draws, against autograd of exact scores.
    network = Network(2, sizes)
    parameters, X = problem(network, n_rows=2)
    direction = torch.randn_like(parameters, generator=None).fill_(1.0) / math.sqrt(len(parameters))
    sigma, n_draws = 0.7, 200_000
    w = parameters.clone().requires_grad_()
    jacobian = torch.autograd.functional.jacobian(
        lambda v: smooth_network(network, v, X, sigma=sigma, link="logistic"), w
    )
    exact = jacobian @ direction
    generator = torch.Generator().manual_seed(1)
    noise = torch.randn(n_draws, len(parameters), generator=generator, dtype=torch.float64)
    upper = torch.sigmoid(network.logits(parameters + sigma * noise, X))
    lower = torch.sigmoid(network.logits(parameters - sigma * noise, X))
    terms = 0.5 * (upper - lower) * (noise @ direction).unsqueeze(1) / sigma
    standard_error = terms.std(0) / math.sqrt(n_draws)
    assert ((terms.mean(0) - exact).abs() <= 5.0 * standard_error).all()


@pytest.mark.parametrize("sizes", [(), (5,)])
def test_lemma_1_remainder_falls_as_the_square(sizes):
    network = Network(3, sizes)
    parameters, X = problem(network, n_rows=1)
    direction, _ = problem(network, seed=5)
    direction = direction / direction.norm()

    def score(w):
        return smooth_network(network, w, X, sigma=0.5, link="logistic")

    slope = torch.autograd.functional.jacobian(score, parameters) @ direction
    lengths = np.array([0.4, 0.2, 0.1, 0.05])
    remainders = [
        float((score(parameters + r * direction) - score(parameters) - r * slope).abs())
        for r in lengths
    ]
    fit = np.polyfit(np.log(lengths), np.log(remainders), 1)
    assert fit[0] == pytest.approx(2.0, abs=0.25)


@pytest.mark.parametrize("sizes", [(), (6,)])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_lemma_3_less_noise_approaches_the_base_classifier(sizes, activation):
    network = Network(3, sizes, activation)
    parameters, X = problem(network, n_rows=20)
    base = torch.sigmoid(network.logits(parameters, X))
    sigmas = (0.3, 0.1, 0.03, 0.01)
    gaps = [
        float((smooth_network(network, parameters, X, sigma=s, link="logistic") - base).abs().max())
        for s in sigmas
    ]
    assert all(later < earlier for earlier, later in pairwise(gaps))
    assert gaps[-1] < 0.005


def test_much_noise_makes_every_linear_score_a_half():
    network = Network(3)
    parameters, X = problem(network)
    score = smooth_network(network, parameters, X, sigma=1e6, link="logistic")
    assert (score - 0.5).abs().max() < 1e-5


def test_lemma_2_slope_is_nearly_attained_by_the_step():
    # N = Φ(w·x / σ‖(x, 1)‖) at logit 0: slope along (x, 1) is 1/(√(2π)σ), the bound itself.
    network = Network(2)
    sigma = 0.4
    X = torch.tensor([[0.6, -0.8]], dtype=torch.float64)
    w = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    smooth_network(network, w, X, sigma=sigma, link="step").backward()
    assert w.grad.norm().item() == pytest.approx(1.0 / (math.sqrt(2.0 * math.pi) * sigma), rel=1e-9)


@pytest.mark.parametrize("sizes", [(1,), (8,)])
def test_no_slope_exceeds_lemma_2(sizes):
    network = Network(3, sizes)
    sigma = 0.4
    for seed in range(5):
        parameters, X = problem(network, n_rows=1, seed=seed)
        for link in LINKS:
            w = parameters.clone().requires_grad_()
            smooth_network(network, w, X, sigma=sigma, link=link).backward()
            assert w.grad.norm() <= (1.0 + 1e-4) / (math.sqrt(2.0 * math.pi) * sigma)


# Of every kind some: equal units at 0, few and many units, tiny and enormous inputs.
@pytest.mark.parametrize("index", [*range(12), *range(30, 42), 60, 61, 65, 78, 91, 110])
def test_claimed_errors_hold_against_an_independent_reference(monkeypatch, index):
    monkeypatch.syspath_prepend("benchmarks")
    row = importlib.import_module("smoothing_errors").check(index)
    assert row["doubt"] <= 1e-8
    assert row["outside"] <= 0.0
    assert row["claimed"] <= 1e-6


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_a_characteristic_function_that_dies_and_revives_is_followed(link):
    # φ is nearly cos(6t)^16: below any tolerance at first, and back at t = π/6.
    network = Network(3, (16,), "tanh")
    parameters = np.zeros(network.n_parameters)
    parameters[-17:-1], parameters[-1] = 6.0, 3.0
    X = np.array([[1000.0, 0.0, 0.0]])
    score, interval = smooth_probability(
        network, parameters, X, sigma=0.1, link=link, return_interval=True
    )
    scale = 0.1 * math.hypot(1000.0, 1.0)
    layer = Layer("tanh", np.zeros(16), scale, np.full(16, 6.0), 3.0, 0.1)
    truth, _ = reference_score(layer, link)
    if link == "probit":  # 400,000 weight draws gave 0.5906 ± 0.0008
        assert score[0] == pytest.approx(0.5906, abs=0.003)
    assert interval[0, 0] <= truth <= interval[0, 1]
    assert np.diff(interval) < 2e-6


@pytest.mark.parametrize("probability", [0.003, 0.3, 0.5])
@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_intervals_cover_at_least_as_often_as_claimed(probability, confidence):
    # The hardest bounded variable: a coin. 1,000 repetitions as 1,000 rows.
    generator = torch.Generator().manual_seed(3)
    coins = (torch.rand(400, 1000, generator=generator) < probability).double()
    running = RunningScores(1000)
    running.add(coins)
    interval = running.interval(1.0 - confidence)
    covered = ((interval[:, 0] <= probability) & (probability <= interval[:, 1])).double().mean()
    assert covered >= confidence


@pytest.mark.parametrize("spread", [0.02, 0.3])
def test_betting_is_at_least_twice_as_sharp_as_bernstein_and_still_covers(spread):
    generator = torch.Generator().manual_seed(4)
    noise = torch.rand(400, 1000, generator=generator, dtype=torch.float64) - 0.5
    running = RunningScores(1000)
    running.add(0.4 + spread * noise)
    interval = running.interval(0.1)
    covered = ((interval[:, 0] <= 0.4) & (interval[:, 1] >= 0.4)).double().mean()
    width = (interval[:, 1] - interval[:, 0]).mean()
    assert covered >= 0.9
    assert width <= bernstein_radius(running.squares, 400, 0.05).mean()


@pytest.mark.parametrize("method", ["layerwise", "monte_carlo"])
@pytest.mark.parametrize("tolerance", [None, 0.4])
def test_intervals_of_smooth_scores_cover_over_a_thousand_repetitions(method, tolerance):
    network = Network(1, (2,))
    parameters = torch.tensor([1.5, -1.0, 0.2, 0.1, 2.0, -1.5, 0.3], dtype=torch.float64)
    X = torch.tensor([[0.7]], dtype=torch.float64)
    truth = smooth_probability(network, parameters, X, sigma=1.0)
    covered = 0
    for seed in range(1000):
        _, interval = smooth_probability(
            network,
            parameters,
            X,
            sigma=1.0,
            method=method,
            n_draws=64,
            random_state=seed,
            return_interval=True,
            confidence=0.9,
            tolerance=tolerance,
        )
        covered += bool(interval[0, 0] <= truth <= interval[0, 1])
    assert covered >= 900
