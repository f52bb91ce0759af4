import pytest
import torch
from torch import nn

from fairsmooth.core.architecture import ModuleNetwork, Network
from fairsmooth.core.smoothing import smooth_network
from fairsmooth.training.likelihood import (
    LayerwiseLikelihood,
    LinearLikelihood,
    NetworkLikelihood,
    SampledLikelihood,
    UnsmoothedLikelihood,
    choose_likelihood,
)


def problem(hidden=(), n=12, d=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    network = Network(d, hidden)
    W = torch.randn(2, network.n_parameters, dtype=torch.float64, generator=generator)
    X = torch.randn(2, n, d, dtype=torch.float64, generator=generator)
    y = torch.randint(0, 2, (2, n), generator=generator).double()
    return network, W, X, y


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("sigma", [0.0, 0.05, 1.0, 5.0])
def test_linear_likelihood_is_the_log_of_the_exact_score(link, sigma):
    network, W, X, y = problem()
    likelihood = LinearLikelihood(network, sigma=sigma, link=link)
    rows = likelihood.prepare(X)
    exact = smooth_network(network, W, X, sigma=sigma, link=link)
    torch.testing.assert_close(likelihood.scores(W, rows, 0), exact, atol=1e-7, rtol=0)
    chosen = torch.where(y > 0.5, exact, 1 - exact)
    torch.testing.assert_close(
        likelihood.log_probability(W, rows, y, 0), chosen.log(), atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_linear_gradient_against_finite_differences(link):
    network, W, X, y = problem(n=4)
    likelihood = LinearLikelihood(network, sigma=0.7, link=link)
    rows = likelihood.prepare(X)
    assert torch.autograd.gradcheck(
        lambda w: likelihood.log_probability(w, rows, y, 0), W.requires_grad_()
    )


def test_linear_likelihood_is_finite_far_out():
    network = Network(1)
    X = torch.tensor([[1.0]], dtype=torch.float64)
    for link in ("logistic", "probit"):
        likelihood = LinearLikelihood(network, sigma=0.1, link=link)
        W = torch.tensor([-60.0, 0.0], dtype=torch.float64, requires_grad=True)
        value = likelihood.log_probability(W, likelihood.prepare(X), torch.ones(1), 0).sum()
        (gradient,) = torch.autograd.grad(value, W)
        assert torch.isfinite(value)
        assert gradient[0] > 0


def test_exact_network_likelihood_is_the_exact_score():
    network, W, X, _ = problem(hidden=(4,))
    likelihood = NetworkLikelihood(network, sigma=0.5, link="logistic")
    exact = smooth_network(network, W, X, sigma=0.5, link="logistic")
    torch.testing.assert_close(likelihood.scores(W, X, 0), exact)


def _mean_over_seeds(likelihood, W, X, y, repetitions=400):
    logs = [likelihood.log_probability(W, X, y, seed) for seed in range(repetitions)]
    raw = [likelihood.draws(W, X, seed) for seed in range(repetitions)]
    plain = [torch.where(y > 0.5, p.mean(0), 1 - p.mean(0)).log() for p in raw]
    scores = torch.stack([p.mean(0) for p in raw])
    return torch.stack(logs).mean(0), torch.stack(plain).mean(0), scores


def _likelihoods():
    network, W, X, y = problem(hidden=(6,), n=40)
    W = 0.4 * W  # scores between .1 and .9, as of most rows of a trained network
    layerwise = LayerwiseLikelihood(network, sigma=0.6, link="logistic", n_draws=8)
    sampled = SampledLikelihood(network, sigma=0.6, link="logistic", n_draws=8)
    return network, W, X, y, {"layerwise": layerwise, "sampled": sampled}


@pytest.mark.parametrize("way", ["layerwise", "sampled"])
def test_few_draws_are_unbiased_and_the_bias_of_their_log_is_removed(way):
    network, W, X, y, likelihoods = _likelihoods()
    exact = smooth_network(network, W, X, sigma=0.6, link="logistic")
    truth = torch.where(y > 0.5, exact, 1 - exact).log()
    corrected, plain, scores = _mean_over_seeds(likelihoods[way], W, X, y)
    error = scores.std(0) / len(scores) ** 0.5
    assert ((scores.mean(0) - exact).abs() < 5 * error).all()
    # Averaged over rows, where the sampling error of the comparison itself is small.
    bias, remaining = (plain - truth).mean(), (corrected - truth).mean()
    assert bias < -1e-4
    assert remaining.abs() < 0.35 * bias.abs()


def test_the_same_seed_draws_the_same():
    _, W, X, _, likelihoods = _likelihoods()
    for likelihood in likelihoods.values():
        assert torch.equal(likelihood.scores(W, X, 3), likelihood.scores(W, X, 3))
        assert not torch.equal(likelihood.scores(W, X, 3), likelihood.scores(W, X, 4))


def test_stacked_groups_equal_one_after_another():
    _, W, X, _, likelihoods = _likelihoods()
    stacked = likelihoods["sampled"].scores(W, X, 1)
    apart = torch.stack([likelihoods["sampled"].scores(w, x, 1) for w, x in zip(W, X, strict=True)])
    torch.testing.assert_close(stacked, apart)


def test_the_cheapest_sound_way_is_chosen():
    options = {"link": "logistic", "smoothing": "auto"}
    module = ModuleNetwork(nn.Linear(3, 1))
    expected = [
        (Network(3), 1.0, LinearLikelihood),
        (Network(3), 0.0, LinearLikelihood),
        (Network(3, (4,)), 1.0, LayerwiseLikelihood),
        (Network(3, (4,)), 0.0, UnsmoothedLikelihood),
        (module, 1.0, SampledLikelihood),
        (module, 0.0, UnsmoothedLikelihood),
    ]
    for architecture, sigma, kind in expected:
        assert type(choose_likelihood(architecture, sigma=sigma, **options)) is kind
    exact = choose_likelihood(Network(3, (4,)), sigma=1.0, link="logistic", smoothing="exact")
    assert type(exact) is NetworkLikelihood


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_rows_that_an_unsmoothed_network_is_sure_and_wrong_about_have_a_gradient(link, dtype):
    linear = nn.Linear(1, 1)
    for base in (Network(1, (2,)), ModuleNetwork(linear)):
        likelihood = choose_likelihood(base, sigma=0.0, link=link, smoothing="auto")
        assert isinstance(likelihood, UnsmoothedLikelihood)
        # Only the last bias counts: logits are 50 and -50, labels 0 and 1.
        W = torch.zeros(2, base.n_parameters, dtype=dtype)
        W[:, -1] = torch.tensor([50.0, -50.0])
        W.requires_grad_()
        X, y = torch.ones(2, 1, 1, dtype=dtype), torch.tensor([[0.0], [1.0]], dtype=dtype)
        logs = likelihood.log_probability(W, X, y, 0)
        (gradient,) = torch.autograd.grad(logs.sum(), W)
        size, slope = (50.0, 1.0) if link == "logistic" else (1254.83, 50.02)
        torch.testing.assert_close(-logs, torch.full_like(logs, size), rtol=1e-4, atol=0.0)
        expected = torch.tensor([-slope, slope], dtype=dtype)
        torch.testing.assert_close(gradient[:, -1], expected, rtol=1e-4, atol=0.0)
