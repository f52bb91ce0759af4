import math
from statistics import NormalDist

import pytest
import torch

from fairsmooth.core.architecture import ACTIVATIONS, Network
from fairsmooth.core.smoothing import smooth_network, tiles
from fairsmooth.core.smoothing.exact import smooth_with_error
from fairsmooth.core.smoothing.hidden import smooth_hidden
from fairsmooth.core.smoothing.linear import LINKS, apply_link, normal_cdf
from fairsmooth.core.smoothing.plan import Accuracy
from fairsmooth.core.smoothing.relu import ReluUnits
from fairsmooth.exceptions import InputError

FINE = Accuracy(tail=30.0, truncation=1e-13, finer=10.0)


def problem(network, n_rows=6, size=1.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    parameters = size * torch.randn(network.n_parameters, generator=generator, dtype=torch.float64)
    return parameters, torch.randn(n_rows, network.n_features, generator=generator).double()


def largest_difference(network, parameters, X, sigma, link):
    options = {"sigma": sigma, "link": link}
    score, error = smooth_hidden(network, parameters, X, **options)
    truth, _ = smooth_hidden(network, parameters, X, accuracy=FINE, **options)
    assert ((score >= 0) & (score <= 1)).all()
    assert ((score - truth).abs() <= error).all()
    return (score - truth).abs().max().item()


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("sigma", [0.01, 0.1, 0.5, 2.0])
@pytest.mark.parametrize(("inputs", "width"), [(1, 1), (5, 3), (500, 2), (40, 64)])
def test_error_against_ten_times_the_nodes(inputs, width, sigma, link):
    network = Network(inputs, (width,))
    for size in (0.1, 1.0):
        parameters, X = problem(network, n_rows=3, size=size)
        assert largest_difference(network, parameters, X, sigma, link) <= 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("sigma", [0.01, 0.1, 0.5, 2.0])
@pytest.mark.parametrize(("inputs", "width"), [(500, 512), (1, 512), (500, 1), (100, 64)])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_error_against_ten_times_the_nodes_in_full(activation, inputs, width, sigma, link):
    network = Network(inputs, (width,), activation)
    parameters, X = problem(network, n_rows=2, size=0.1)
    assert largest_difference(network, parameters, X, sigma, link) <= 1e-6


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("width", [1, 3, 20])
def test_a_bad_first_guess_of_the_range_does_no_harm(monkeypatch, width, link):
    network = Network(5, (width,))
    parameters, X = problem(network, n_rows=4)
    monkeypatch.setattr(ReluUnits, "reach", lambda units, variance, *_: torch.zeros_like(variance))
    assert largest_difference(network, parameters, X, 0.1, link) <= 1e-6


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("width", [1, 3, 20])
def test_growing_intervals_agree_with_equal_steps(monkeypatch, width, link):
    network = Network(5, (width,))
    parameters, X = problem(network, n_rows=4)
    options = {"sigma": 0.5, "link": link}
    truth, _ = smooth_hidden(network, parameters, X, accuracy=FINE, **options)
    monkeypatch.setattr(tiles, "MANY", 4)
    # As far as the range is known to be enough, and from the start.
    assert (smooth_hidden(network, parameters, X, **options)[0] - truth).abs().max() <= 1e-6
    monkeypatch.setattr(ReluUnits, "reach", lambda units, variance, *_: torch.zeros_like(variance))
    assert (smooth_hidden(network, parameters, X, **options)[0] - truth).abs().max() <= 1e-6


@pytest.mark.parametrize("activation", ["relu", "silu"])
def test_an_output_bias_too_large_to_follow_is_not_taken_for_followed(activation):
    # One enormous row: the unit is off, and the bias decides, or on, and its weight does.
    sigma, slope = 0.0029071747591886666, -0.0019581374760044025
    parameters = torch.tensor([slope, -0.0152, 1.2151567844205489, -2854.2405079368446]).double()
    rows = torch.tensor([[1e150]], dtype=torch.float64)
    network = Network(1, (1,), activation=activation)
    score, error = smooth_hidden(network, parameters, rows, sigma=sigma, link="step")
    assert abs(float(score) - NormalDist().cdf(slope / sigma)) <= float(error)


@pytest.mark.parametrize("link", LINKS)
def test_a_unit_that_is_surely_on_is_not_taken_for_followed(link):
    # Half of the time the first unit is off, and the second decides; else they are far apart.
    ratio = 1e4
    parameters = torch.tensor([0, 0, 0, ratio, -(ratio**2), ratio, 0.0], dtype=torch.float64)
    rows = torch.zeros((1, 1), dtype=torch.float64)
    score, error = smooth_hidden(Network(1, (2,)), parameters, rows, sigma=1.0, link=link)
    noise = torch.linspace(0.0, 9.0, 90_001, dtype=torch.float64)
    mean, scale = ratio**2 * (1.0 - noise), torch.hypot(ratio * math.sqrt(2.0) + 0 * noise, noise)
    density = torch.exp(-0.5 * noise.square()) / math.sqrt(2.0 * math.pi)
    truth = 0.5 + float(torch.trapezoid(density * normal_cdf(mean / scale), noise))
    assert abs(float(score) - truth) <= float(error) + 1e-3


@pytest.mark.parametrize("link", LINKS)
def test_scales_far_apart_agree_with_sampling(link):
    # Inputs of ten thousand: equal steps would need millions of nodes.
    network = Network(2, (3,))
    parameters, X = problem(network, n_rows=3)
    score, error = smooth_hidden(network, parameters, 1e4 * X, sigma=0.5, link=link)
    assert error.max() < 1e-6
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(50_000, network.n_parameters, generator=generator, dtype=torch.float64)
    draws = apply_link(network.logits(parameters + 0.5 * noise, 1e4 * X), link)
    assert ((score - draws.mean(0)).abs() <= 5.0 * draws.std(0) / math.sqrt(50_000) + 6e-4).all()


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("logit", [-50.0, -12.0, 3.0, 50.0])
def test_large_logits_keep_their_accuracy(link, logit):
    network = Network(3, (8,))
    parameters, X = problem(network, size=0.5)
    parameters[-1] = logit
    assert largest_difference(network, parameters, X, 0.3, link) <= 1e-6


@pytest.mark.parametrize("activation", ["tanh", "silu"])
@pytest.mark.parametrize("sigma", [0.05, 1.0])
def test_smooth_activations_keep_their_accuracy(activation, sigma):
    network = Network(10, (7,), activation)
    parameters, X = problem(network, n_rows=3)
    assert largest_difference(network, parameters, X, sigma, "logistic") <= 1e-6


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_match_finite_differences(activation, link):
    network = Network(2, (2,), activation)
    parameters, X = problem(network, n_rows=2, size=0.7)
    inputs = (parameters.requires_grad_(), X.requires_grad_())

    def score(w, x):
        return smooth_network(network, w, x, sigma=0.5, link=link)

    assert torch.autograd.gradcheck(score, inputs, eps=1e-4, atol=1e-5)


def test_gradients_are_right_where_units_have_mean_0():
    network = Network(2, (3,))
    parameters = torch.linspace(-1.0, 1.0, network.n_parameters, dtype=torch.float64)
    parameters[6:9] = 0.0  # the hidden biases, and all that a row of zeros sees
    rows = torch.zeros(1, 2, dtype=torch.float64)

    def score(w):
        return smooth_network(network, w, rows, sigma=0.5, link="logistic").sum()

    (slope,) = torch.autograd.grad(score(parameters.requires_grad_()), parameters)
    moves = 1e-4 * torch.eye(network.n_parameters, dtype=torch.float64)
    with torch.no_grad():
        expected = [(score(parameters + m) - score(parameters - m)) / 2e-4 for m in moves]
    torch.testing.assert_close(slope, torch.stack(expected), atol=1e-5, rtol=0)


def test_gradients_are_finite_at_zero_and_for_extreme_parameters():
    network = Network(2, (3,))
    for value in (0.0, 1e3, -1e3, 1e8):
        parameters = torch.full((network.n_parameters,), value).double().requires_grad_()
        X = torch.tensor([[0.0, 0.0], [1e3, -1e3]], dtype=torch.float64, requires_grad=True)
        smooth_network(network, parameters, X, sigma=0.1, link="logistic").sum().backward()
        assert torch.isfinite(parameters.grad).all()
        assert torch.isfinite(X.grad).all()


def test_groups_are_smoothed_at_once():
    network = Network(4, (5,))
    parameters = torch.stack([problem(network, seed=seed)[0] for seed in (0, 1)])
    X = torch.stack([problem(network, seed=seed)[1] for seed in (2, 3)])
    options = {"sigma": 0.4, "link": "logistic"}
    together = smooth_network(network, parameters, X, **options)
    for k in range(2):
        alone = smooth_network(network, parameters[k], X[k], **options)
        torch.testing.assert_close(together[k], alone, atol=1e-7, rtol=0)


def test_recomputing_in_the_backward_pass_changes_nothing(monkeypatch):
    network = Network(4, (16,))
    parameters, X = problem(network, n_rows=200)

    def gradient():
        w = parameters.clone().requires_grad_()
        smooth_network(network, w, X, sigma=0.4, link="logistic").sum().backward()
        return w.grad

    kept = gradient()
    monkeypatch.setattr(tiles, "KEPT", 0)
    torch.testing.assert_close(gradient(), kept)


def test_without_noise_it_is_the_base_classifier():
    for sizes in ((), (4,)):
        network = Network(3, sizes)
        parameters, X = problem(network)
        got = smooth_network(network, parameters, X, sigma=0.0, link="logistic")
        torch.testing.assert_close(got, apply_link(network.logits(parameters, X), "logistic"))


def test_little_noise_is_nearly_the_base_classifier():
    network = Network(3, (4,))
    parameters, X = problem(network)
    base = apply_link(network.logits(parameters, X), "logistic")
    gaps = [
        (smooth_network(network, parameters, X, sigma=s, link="logistic") - base).abs().max()
        for s in (1e-1, 1e-2, 1e-3)
    ]
    assert gaps[0] > gaps[1]
    assert gaps[2] < 1e-4


def test_much_noise_leaves_a_coin_toss():
    network = Network(3, (4,))
    parameters, X = problem(network)
    score = smooth_network(network, parameters, X, sigma=1e2, link="probit")
    assert (score - 0.5).abs().max() < 2e-2


def test_score_rises_with_the_output_bias():
    network = Network(3, (4,))
    parameters, X = problem(network)
    several = parameters.repeat(30, 1)
    several[:, -1] = torch.linspace(-30.0, 30.0, 30, dtype=torch.float64)
    score = smooth_network(network, several, X.expand(30, -1, -1), sigma=0.5, link="logistic")
    assert (score.diff(dim=0) > -1e-7).all()


def test_an_inactive_layer_leaves_the_output_bias():
    network = Network(1, (1,))
    parameters = torch.tensor([0.0, -1e6, 1.0, 0.7], dtype=torch.float64)
    score = smooth_network(network, parameters, torch.ones(1, 1).double(), sigma=0.5, link="probit")
    expected = 0.5 * math.erfc(-0.7 / math.sqrt(2.0 * 1.25))
    assert score.item() == pytest.approx(expected, abs=1e-7)


def test_narrow_types_come_back_narrow_and_are_computed_wide():
    network = Network(3, (4,))
    parameters, X = problem(network)
    narrow = smooth_network(network, parameters.float(), X.float(), sigma=0.5, link="logistic")
    wide = smooth_network(network, parameters, X, sigma=0.5, link="logistic")
    assert narrow.dtype == torch.float32
    torch.testing.assert_close(narrow.double(), wide, atol=1e-6, rtol=0)


def test_no_rows_give_no_scores():
    network = Network(3, (4,))
    parameters, X = problem(network)
    assert smooth_network(network, parameters, X[:0], sigma=0.5, link="logistic").shape == (0,)


def test_two_hidden_layers_are_refused():
    network = Network(3, (4, 4))
    parameters, X = problem(network)
    with pytest.raises(InputError, match="at most 1 hidden layer"):
        smooth_with_error(network, parameters, X, sigma=0.5, link="logistic")
