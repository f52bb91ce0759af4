"""Scores in tiles are those of the layers written out, whatever the tiles."""

import pytest
import torch

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing import deep_scores, smooth_layerwise, smooth_probability
from fairsmooth.core.smoothing.deep_scores import DeepScores
from fairsmooth.core.smoothing.layerwise import antithetic_scores, scores_given_noise
from fairsmooth.core.smoothing.mixtures import COARSE, FINE, rule_from
from fairsmooth.exceptions import InputError


def problem(sizes, activation="relu", n_rows=23, scale=1.0):
    generator = torch.Generator().manual_seed(3)
    network = Network(5, sizes, activation=activation)
    parameters = torch.randn(network.n_parameters, generator=generator, dtype=torch.float64)
    X = scale * torch.randn(n_rows, 5, generator=generator, dtype=torch.float64)
    noise = torch.randn(40, sum(sizes), generator=generator, dtype=torch.float64)
    return network, parameters, X, noise


@pytest.mark.parametrize("link", ["logistic", "probit", "step"])
@pytest.mark.parametrize("activation", ["relu", "tanh", "silu"])
@pytest.mark.parametrize("sizes", [(6,), (6, 4), (3, 7, 2)])
def test_tiles_give_the_scores_of_the_layers_written_out(sizes, activation, link, monkeypatch):
    # Seven rows and two or three draws at a time: the last tile of either kind is a short one.
    monkeypatch.setattr(deep_scores, "_ROWS", 7)
    monkeypatch.setattr(deep_scores, "_TILE", 7 * max(sizes) * 3)
    network, parameters, X, noise = problem(sizes, activation)
    for sigma in (0.05, 0.5, 3.0):
        ours = DeepScores(network, parameters, X, sigma=sigma, link=link)(noise)
        wanted = scores_given_noise(network, parameters, X, noise, sigma, link)
        # Either may use another mixture for the logistic, each within 1e-6; otherwise rounding.
        allowed = 2e-6 if link == "logistic" else 1e-13
        assert (ours - wanted).abs().max() <= allowed


def test_buffers_do_not_remember_earlier_noise():
    network, parameters, X, noise = problem((6, 4))
    scores = DeepScores(network, parameters, X, sigma=0.5, link="logistic")
    first = scores(noise)
    scores(-noise)
    assert torch.equal(scores(noise), first)


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_large_rows_are_scored_in_single_precision_too(link):
    network, parameters, X, noise = problem((6, 4), scale=1e30)
    narrow = [values.float() for values in (parameters, X, noise)]
    ours = DeepScores(network, *narrow[:2], sigma=0.5, link=link)(narrow[2])
    wanted = scores_given_noise(network, parameters, X, noise, 0.5, link)
    assert (ours - wanted).abs().max() < 1e-5


@pytest.mark.parametrize("return_interval", [False, True])
def test_hidden_layers_beyond_single_precision_are_refused(return_interval):
    network, parameters, X, _ = problem((6, 4), scale=1e30)
    # Noise so large that float32 has digits enough.
    options = {"sigma": 1e9, "n_draws": 64, "return_interval": return_interval}
    with pytest.raises(InputError, match="hidden layers below 3e38"):
        smooth_probability(network, 1e10 * parameters, X, **options)


def test_no_rows_have_no_scores():
    network, parameters, X, noise = problem((6, 4))
    assert DeepScores(network, parameters, X[:0], sigma=0.5, link="logistic")(noise).shape == (
        40,
        0,
    )


def test_the_mean_is_the_same_with_and_without_gradients():
    network, parameters, X, _ = problem((6, 4))
    options = {"sigma": 0.5, "link": "probit", "n_draws": 300, "seed": 1}
    plain = smooth_layerwise(network, parameters, X, **options)
    followed = smooth_layerwise(network, parameters.requires_grad_(), X, **options)
    assert followed.requires_grad
    assert (plain - followed.detach()).abs().max() < 1e-13


def test_pairs_do_not_depend_on_how_many_are_asked_for():
    network, parameters, X, _ = problem((6, 4))
    options = {"sigma": 0.5, "link": "probit", "seed": 1}
    ask = [range(300), range(10), range(260, 270)]
    every, few, later = (
        torch.cat(list(antithetic_scores(network, parameters, X, pairs=pairs, **options)))
        for pairs in ask
    )
    assert torch.allclose(every[:10], few, atol=1e-15, rtol=0)
    assert torch.allclose(every[260:270], later, atol=1e-15, rtol=0)


@pytest.mark.parametrize("rules", [COARSE, FINE])
def test_a_rule_serves_every_scale_from_the_asked_one_on(rules):
    for scale in (0.0, 0.5, 1.04, 2.0, 1e6, *(rule.scale for rule in rules)):
        assert rule_from(rules, scale).scale <= scale
        better = [rule for rule in rules if rule.n_nodes < rule_from(rules, scale).n_nodes]
        assert all(rule.scale > 0.999 * scale for rule in better)
