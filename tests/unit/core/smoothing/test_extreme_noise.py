"""Noise from nothing at all to far beyond every weight: intervals hold, and memory is bounded."""

import mpmath
import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from fairsmooth.core.few_rows import linear_scores_and_intervals
from fairsmooth.core.network import Network
from fairsmooth.core.rows import DenseRows, SparseRows
from fairsmooth.core.rule import FittedRule
from fairsmooth.core.smoothing import smooth_network, smooth_probability
from fairsmooth.core.smoothing.exact import smooth_with_error
from fairsmooth.core.smoothing.grids import grid_within
from fairsmooth.core.smoothing.layerwise import antithetic_scores
from fairsmooth.core.smoothing.smooth_units import SmoothUnits

LINKS = ["logistic", "probit"]
ACTIVATIONS = {
    "relu": lambda y: max(y, mpmath.mpf(0)),
    "tanh": mpmath.tanh,
    "silu": lambda y: y / (1 + mpmath.exp(-y)),
}


def base_score(network, parameters, row, link):
    """Return the base classifier's score in 60 digits."""
    with mpmath.workdps(60):
        signal = [mpmath.mpf(float(x)) for x in row]
        values = iter([mpmath.mpf(float(w)) for w in parameters])
        for number, (out, into) in enumerate(network.shapes):
            weights = [[next(values) for _ in range(into)] for _ in range(out)]
            signal = [
                mpmath.fsum(w * h for w, h in zip(line, signal, strict=True)) + next(values)
                for line in weights
            ]
            if number < len(network.shapes) - 1:
                signal = [ACTIVATIONS[network.activation](y) for y in signal]
        (logit,) = signal
        if link == "step":
            return mpmath.mpf((1 + int(mpmath.sign(logit))) / 2)
        return mpmath.ncdf(logit) if link == "probit" else 1 / (1 + mpmath.exp(-logit))


@pytest.mark.filterwarnings("ignore:Exact smoothing")
@pytest.mark.parametrize("activation", ["relu", "tanh", "silu"])
@pytest.mark.parametrize("hidden", [(), (3,), (4, 3)])
def test_without_noise_the_interval_allows_for_rounded_logits(hidden, activation):
    rng = np.random.default_rng(0)
    network = Network(3, hidden, activation)
    for trial in range(30):
        link = ["logistic", "probit", "step"][trial % 3]
        parameters = rng.normal(size=network.n_parameters) * 10.0 ** rng.uniform(0, 4)
        row = rng.normal(size=3)
        # Large numbers cancel: what rounding left is all that the logit is.
        parameters[-1] -= float(network.logits(torch.tensor(parameters), torch.tensor(row[None])))
        truth = base_score(network, parameters, row, link)
        score, ends = smooth_probability(
            network, parameters, row[None], sigma=0.0, link=link, return_interval=True
        )
        assert mpmath.mpf(ends[0, 0]) <= truth <= mpmath.mpf(ends[0, 1])
        assert score[0] == smooth_network(
            network, torch.tensor(parameters), torch.tensor(row[None]), sigma=0.0, link=link
        )
        if not hidden and link != "step":
            _, others = linear_scores_and_intervals(parameters, row[None], sigma=0.0, link=link)
            assert mpmath.mpf(others[0, 0]) <= truth <= mpmath.mpf(others[0, 1])


def test_without_noise_the_interval_is_narrow_where_nothing_cancels():
    _, ends = smooth_probability((), [2.0, -1.0], [[3.0], [1e9]], sigma=0.0, return_interval=True)
    assert (ends[:, 1] - ends[:, 0] < 1e-13).all()


def rule_of(parameters, sigma, link="probit"):
    return FittedRule.of(
        Network(len(parameters) - 1),
        np.stack([parameters, parameters]),
        groups=("a", "b"),
        sigma=sigma,
        center="mean",
        link=link,
        smoothing="auto",
        n_draws=2,
        threshold=0.5,
    )


@pytest.mark.parametrize("link", LINKS)
def test_without_noise_intervals_of_compact_rows_allow_for_what_cancelled(link):
    rng = np.random.default_rng(0)
    weights, X = 1e6 * rng.normal(size=50), rng.normal(size=(6, 50))
    X -= np.outer(X @ weights, weights) / (weights @ weights)
    parameters = np.append(weights, 0.3)
    for rows in (SparseRows(csr_array(X)), DenseRows(X)):
        scores, intervals = rule_of(parameters, 0.0, link).scores_and_intervals(rows)
        for row, score, (low, high) in zip(X, scores, intervals[:, 0], strict=True):
            truth = base_score(Network(50), parameters, row, link)
            assert mpmath.mpf(low) <= truth <= mpmath.mpf(high)
            assert score == pytest.approx(float(truth), abs=1e-6)


@pytest.mark.filterwarnings("ignore:Exact smoothing")
def test_intervals_of_compact_rows_allow_for_all_columns_that_were_added():
    # Every addition rounds up by half a unit: 2e4 units in all, when 2 columns were allowed for.
    n, first = 40_000, 2.0**52
    row = np.full(n, 0.5 + 2.0**-20)
    row[0] = first
    mean = (n - 1) * (0.5 + 2.0**-20)
    parameters = np.append(np.ones(n), -first)
    sigma = 2.5e-10
    _, intervals = rule_of(parameters, sigma).scores_and_intervals(SparseRows(csr_array(row[None])))
    scale = sigma * mpmath.sqrt(mpmath.mpf(first) ** 2 + 1)
    truth = mpmath.ncdf(mean / mpmath.sqrt(1 + scale**2))
    assert mpmath.mpf(intervals[0, 0, 0]) <= truth <= mpmath.mpf(intervals[0, 0, 1])


@pytest.mark.filterwarnings("ignore:Exact smoothing")
@pytest.mark.parametrize("sigma", [1e-305, 1e-310, 1e-318, 5e-324])
def test_the_step_of_a_linear_model_divides_by_any_noise(sigma):
    score, ends = smooth_probability(
        (), [0.0, sigma], [[0.0]], sigma=sigma, link="step", return_interval=True
    )
    truth = float(mpmath.ncdf(1))
    assert score[0] == pytest.approx(truth, abs=1e-9)
    assert ends[0, 0] <= truth <= ends[0, 1]


@pytest.mark.parametrize("activation", ["tanh", "silu"])
@pytest.mark.parametrize("sigma", [1e-8, 1e-5, 1e-4])
def test_little_noise_takes_little_work(activation, sigma):
    network = Network(2, (3,), activation)
    rng = np.random.default_rng(0)
    parameters, X = rng.normal(size=network.n_parameters), rng.normal(size=(40, 2))
    score, ends = smooth_probability(network, parameters, X, sigma=sigma, return_interval=True)
    # The score is smooth in sigma squared, so that of no noise at all is as good as exact.
    truth = smooth_probability(network, parameters, X, sigma=0.0)
    assert np.abs(score - truth).max() < 5e-7
    assert (ends[:, 0] <= truth).all()
    assert (truth <= ends[:, 1]).all()
    assert (ends[:, 1] - ends[:, 0]).max() < 2e-6


def test_laws_too_narrow_to_share_nodes_have_none():
    mean, scale = torch.tensor([[-1.0], [1.0]]).double(), torch.tensor([1e-7]).double()
    assert grid_within((-9.0, 9.0), 1e-8, mean, scale, precision=1e-5) is None
    assert grid_within((-9.0, 9.0), 0.0, mean, scale, precision=1e-5) is None
    assert grid_within((-9.0, 9.0), 0.1, mean, scale, precision=1e-5) is not None


def test_factors_do_not_depend_on_how_many_rows_fit_into_memory(monkeypatch):
    rng = np.random.default_rng(0)
    mean, weight = torch.tensor(rng.normal(size=(4, 7))), torch.tensor(rng.normal(size=(4, 1)))
    units = SmoothUnits(mean, torch.full((7,), 0.01).double(), weight, 0.01, "tanh")
    t = torch.linspace(0.1, 3.0, 5).double().unsqueeze(1)
    together = units.characteristic(t)
    monkeypatch.setattr("fairsmooth.core.smoothing.smooth_units._ELEMENTS", 1)
    for part, expected in zip(units.characteristic(t), together, strict=True):
        torch.testing.assert_close(part, expected, rtol=0, atol=1e-15)


@pytest.mark.filterwarnings("ignore:Exact smoothing")
@pytest.mark.parametrize("link", ["logistic", "probit", "step"])
@pytest.mark.parametrize("activation", ["relu", "tanh", "silu"])
def test_noise_beyond_the_squares_of_float64_has_honest_intervals(activation, link):
    network = Network(1, (2,), activation)
    parameters = torch.tensor([1.0, -1.0, 0.5, 0.2, 1.0, 2.0, 0.3]).double()
    X = torch.tensor([[0.7]]).double()
    for sigma in (5e-324, 1e-200):
        score, error = smooth_with_error(network, parameters, X, sigma=sigma, link=link)
        assert score == smooth_network(network, parameters, X, sigma=0.0, link=link)
        assert error == 1.0
    for sigma in (1e101, 1e160, 1e300):
        score, error = smooth_with_error(network, parameters, X, sigma=sigma, link=link)
        assert score == 0.5
        assert 0.0 < error < 1e-15
    # Weights as large as the noise are not forgotten: the bound of Lemma 2 is over 0.9.
    large = torch.cat([parameters[:-1], torch.tensor([1e120]).double()])
    _, error = smooth_with_error(network, large, X, sigma=4e119, link=link)
    assert float(error) > 0.9


def test_intervals_of_deep_networks_allow_for_sums_of_many_terms():
    # In float32 the sum drifts by 0.14 and the score by 5e-4, where 7e-5 were allowed for.
    n, first = 20_000, 13_333
    weights = np.full(n, 1.3337)
    weights[first:] = -1.3337 * first / (n - first)
    network = Network(n, (2, 2), "tanh")
    parameters = torch.zeros(network.n_parameters).double()
    parameters[: 2 * n] = torch.tensor(np.tile(weights, 2))
    parameters[2 * n + 2 :] = 3.0
    rows = torch.ones(1, n).double()
    options = {"sigma": 0.5, "link": "probit"}
    pairs = range(2000)
    draws = torch.cat(
        list(antithetic_scores(network, parameters, rows, pairs=pairs, seed=0, **options))
    )
    score, ends = smooth_probability(
        network, parameters, rows, n_draws=4000, return_interval=True, **options
    )
    # The same draws in float64: what is left is rounding, and much less than was drifted.
    assert abs(float(score) - float(draws.mean())) < 1e-5
    assert ends[0, 0] < score[0] < ends[0, 1]
