import math

import pytest
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector

from fairsmooth.core.architecture import ModuleNetwork, Network
from fairsmooth.core.deviations import bernstein_radius
from fairsmooth.core.smoothing import (
    betting,
    confidence,
    smooth_layerwise,
    smooth_network,
    smooth_sampled,
)
from fairsmooth.core.smoothing.betting import betting_interval
from fairsmooth.core.smoothing.confidence import RunningScores, stage_delta
from fairsmooth.core.smoothing.layerwise import sobol_noise

NOISE = {"sigma": 0.5, "link": "logistic"}


def problem(network, n_rows=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    parameters = torch.randn(network.n_parameters, generator=generator, dtype=torch.float64)
    return parameters, torch.randn(n_rows, network.n_features, generator=generator).double()


@pytest.mark.parametrize("activation", ["relu", "tanh", "silu"])
@pytest.mark.parametrize("link", ["logistic", "probit", "step"])
def test_layerwise_agrees_with_exact_on_one_hidden_layer(activation, link):
    network = Network(4, (6,), activation)
    parameters, X = problem(network)
    exact = smooth_network(network, parameters, X, sigma=0.5, link=link)
    options = {"sigma": 0.5, "link": link, "n_draws": 4096, "seed": 0}
    assert (smooth_layerwise(network, parameters, X, **options) - exact).abs().max() < 3e-3


def test_layerwise_agrees_with_weight_draws_on_two_hidden_layers():
    network = Network(4, (6, 5))
    parameters, X = problem(network)
    ours = smooth_layerwise(network, parameters, X, n_draws=4096, seed=0, **NOISE)
    theirs = smooth_sampled(network, parameters, X, n_draws=20_000, seed=0, **NOISE)
    # Five standard errors of 20,000 draws of a score in [0, 1].
    assert (ours - theirs).abs().max() < 5 * 0.5 / math.sqrt(20_000)


def test_sobol_error_falls_faster_than_that_of_random_draws():
    network = Network(4, (3,))
    parameters, X = problem(network)
    exact = smooth_network(network, parameters, X, **NOISE)

    def error(n_draws):
        runs = [
            smooth_layerwise(network, parameters, X, n_draws=n_draws, seed=seed, **NOISE) - exact
            for seed in range(8)
        ]
        return torch.stack(runs).square().mean().sqrt()

    # Random draws would gain a factor of 4.
    assert error(64) / error(1024) > 5.0


def test_layerwise_keeps_leading_dimensions_and_gradients():
    network = Network(3, (4, 2))
    parameters = torch.stack([problem(network, seed=k)[0] for k in range(2)]).requires_grad_()
    X = torch.stack([problem(network, seed=k)[1] for k in range(2)])
    options = NOISE | {"n_draws": 8, "seed": 3}
    score = smooth_layerwise(network, parameters, X, **options)
    assert score.shape == (2, 5)
    alone = smooth_layerwise(network, parameters[1], X[1], **options)
    torch.testing.assert_close(score[1], alone)
    assert torch.autograd.gradcheck(
        lambda w: smooth_layerwise(network, w, X, **options), (parameters,), eps=1e-6, atol=1e-5
    )


def test_sobol_noise_is_standard_normal():
    noise = sobol_noise(Network(1, (5, 3)), 4096, 0)
    assert noise.shape == (4096, 8)
    assert noise.mean(0).abs().max() < 0.01
    assert (noise.var(0) - 1.0).abs().max() < 0.02


def test_sampled_is_the_same_whatever_the_chunk(monkeypatch):
    network = Network(3, (4,))
    parameters, X = problem(network)
    options = NOISE | {"n_draws": 50, "seed": 1}
    whole = smooth_sampled(network, parameters, X, **options)
    monkeypatch.setattr("fairsmooth.core.smoothing.sampled._TILE", 100)
    torch.testing.assert_close(smooth_sampled(network, parameters, X, **options), whole)


def test_sampled_gradient_matches_finite_differences():
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    base = ModuleNetwork(module)
    parameters = parameters_to_vector(module.parameters()).detach().requires_grad_()
    X = torch.randn(4, 3, generator=torch.Generator().manual_seed(0)).double()
    options = NOISE | {"n_draws": 6, "seed": 1}
    assert torch.autograd.gradcheck(lambda w: smooth_sampled(base, w, X, **options), (parameters,))


def test_antithetic_pairs_are_exact_for_a_symmetric_score():
    # At logit 0 the average over a pair is ½ whatever the noise.
    score = smooth_sampled(Network(2), torch.zeros(3), torch.ones(1, 2), n_draws=2, seed=0, **NOISE)
    assert score.item() == pytest.approx(0.5, abs=1e-7)


def test_running_scores_equal_mean_and_variance_of_all_values():
    values = torch.rand(37, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    running = RunningScores(4)
    for part in values.split((5, 1, 20, 11)):
        running.add(part)
    torch.testing.assert_close(running.mean, values.mean(0))
    torch.testing.assert_close(running.squares / 36, values.var(0))
    kept = running.keep(torch.tensor([True, False, True, False]))
    torch.testing.assert_close(kept.mean, values.mean(0)[::2])


def test_radius_is_the_printed_bound_and_vacuous_without_data():
    squares = torch.tensor([9.0], dtype=torch.float64)
    log_term = math.log(2.0 / 0.01)
    expected = math.sqrt(2.0 * (9.0 / 99) * log_term / 100) + 7.0 * log_term / (3.0 * 99)
    assert bernstein_radius(squares, 100, 0.01).item() == pytest.approx(expected)
    assert bernstein_radius(squares, 1, 0.01).item() == 1.0


def test_shares_of_the_looks_add_up_to_what_is_allowed():
    assert sum(stage_delta(0.05, stage) for stage in range(10_000)) == pytest.approx(0.05, rel=1e-3)


def test_bets_do_not_see_the_score_they_are_placed_on():
    values = torch.rand(50, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    changed = values.clone()
    changed[20] = 1.0 - changed[20]
    before, after = betting._bets(values, 0.1), betting._bets(changed, 0.1)
    torch.testing.assert_close(before[:21], after[:21], rtol=0, atol=0)
    assert (before[21:] != after[21:]).any()


def test_capital_falls_with_the_mean_bet_against():
    values = torch.rand(100, 1, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    means = torch.linspace(0.01, 0.99, 99, dtype=torch.float64)
    bets = betting._bets(values, 0.1)
    capital = betting._log_capital(values.expand(-1, 99), bets.expand(-1, 99), means)
    assert (capital.diff() <= 0).all()


def test_one_score_says_nothing_and_equal_scores_a_lot():
    assert betting_interval(torch.tensor([[0.3]]).double(), 0.1).tolist() == [[0.0, 1.0]]
    low, high = betting_interval(torch.full((1000, 1), 0.3).double(), 0.1)[0].tolist()
    assert 0.29 < low <= 0.3 <= high < 0.31


def test_more_scores_than_are_kept_get_the_bernstein_interval(monkeypatch):
    monkeypatch.setattr(confidence, "_KEPT", 100)
    running = RunningScores(4)
    running.add(torch.rand(40, 4, generator=torch.Generator().manual_seed(0)))
    radius = bernstein_radius(running.squares, 40, 0.05)
    expected = torch.stack([running.mean - radius, running.mean + radius], -1).clamp(0.0, 1.0)
    torch.testing.assert_close(running.interval(0.1), expected)
    assert running.keep(torch.tensor([True, False, False, False])).values == []
