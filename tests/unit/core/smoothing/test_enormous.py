import math
import time

import numpy as np
import pytest
import torch
from scipy.special import logsumexp, ndtr

from fairsmooth.core.architecture import Network
from fairsmooth.core.few_rows import few_linear_scores
from fairsmooth.core.smoothing import smooth_network, smooth_probability
from fairsmooth.core.smoothing.linear import smooth_link
from fairsmooth.core.smoothing.smooth_units import SmoothUnits
from fairsmooth.exceptions import InputError

SIZES = (1e16, 1e30, 1e150, 1e200, 1e308)


def mixture(activation, weight, bias, sigma, link):
    """One unit whose pre-activation is enormous and as often positive as negative."""

    def score(mean, variance):
        mean, scale = (torch.tensor([v]).double() for v in (mean, math.sqrt(variance)))
        return smooth_link(mean, scale, link).item()

    if activation == "tanh":
        both = [score(bias + sign * weight, 2.0 * sigma**2) for sign in (-1, 1)]
        return sum(both) / 2.0
    return 0.5 * score(bias, sigma**2) + 0.5 * ndtr(weight / sigma)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("activation", ["relu", "tanh", "silu"])
def test_enormous_rows_have_the_score_of_their_direction(activation, link, size):
    network, w = Network(2, (1,), activation), np.array([0.0, 0.0, 0.0, 0.3, -0.4])
    row = np.array([[size, -0.5 * size]])
    score, interval = smooth_probability(
        network, w, row, sigma=0.2, link=link, return_interval=True
    )
    expected = mixture(activation, 0.3, -0.4, 0.2, link)
    assert interval[0, 0] <= expected <= interval[0, 1]
    assert abs(score[0] - expected) < 1e-6


def test_large_and_ordinary_rows_share_a_call():
    network = Network(3, (4,), "tanh")
    w = np.random.default_rng(0).normal(size=network.n_parameters)
    rows = np.array([[1.0, 2.0, -1.0], [1e200, 2e200, -1e200], [0.0, 0.0, 0.0]])
    together = smooth_probability(network, w, rows, sigma=0.3)
    alone = [smooth_probability(network, w, row[None], sigma=0.3)[0] for row in rows]
    np.testing.assert_allclose(together, alone, atol=1e-6)
    w = torch.tensor(w, requires_grad=True)
    smooth_network(network, w, torch.tensor(rows), sigma=0.3, link="logistic").sum().backward()
    assert torch.isfinite(w.grad).all()


@pytest.mark.parametrize("size", [1e99, 1e101, 1e155, 1e200, 1e307])
@pytest.mark.parametrize("link", ["logistic", "probit", "step"])
def test_linear_scores_of_enormous_rows_do_not_overflow(size, link):
    w, row = np.array([0.3, -0.1, 2.0]), np.array([[size, 2.0 * size], [1.0, 1.0]])
    score = smooth_probability((), w, row, sigma=0.5, link=link)
    assert score[0] == pytest.approx(ndtr(0.1 / (0.5 * math.sqrt(5.0))), abs=1e-9)
    alone = smooth_probability((), w, row[1:], sigma=0.5, link=link)
    np.testing.assert_allclose(score[1:], alone, atol=1e-12)
    if link != "step":
        few = few_linear_scores(w, row, sigma=0.5, link=link)
        if few is not None:  # None: the caller takes the way checked above
            np.testing.assert_allclose(few, score, atol=1e-9)


def test_rows_that_a_sampled_method_cannot_hold_are_refused():
    network = Network(1, (2, 2))
    w = np.zeros(network.n_parameters)
    with pytest.raises(
        InputError, match=r"Expected rows, parameters .* below 3e38 .* up to 1e\+50"
    ):
        smooth_probability(network, w, np.array([[1e50]]), sigma=0.5)


# Each took between 0.5 and 3.6 seconds, or claimed next to nothing, when the work for a
# row was not bounded.
SLOW = [
    ("relu", 1, "zero", "step", 1e-3, 1e150),
    ("relu", 200, "random", "step", 1e-3, 30.0),
    ("tanh", 200, "zero", "step", 1e-3, 1e-6),
    ("tanh", 200, "zero", "step", 1e-3, 1e6),
    ("tanh", 200, "zero", "probit", 1e-2, 1e6),
    ("silu", 16, "zero", "step", 1e-3, 3e3),
    ("silu", 200, "zero", "logistic", 1e-3, 3e3),
    ("silu", 16, "random", "logistic", 0.1, 1e100),
]


@pytest.mark.filterwarnings("ignore:Exact smoothing of 1 of 1 rows")
@pytest.mark.parametrize(("activation", "width", "kind", "link", "sigma", "size"), SLOW)
def test_one_row_takes_a_fraction_of_a_second(activation, width, kind, link, sigma, size):
    network = Network(3, (width,), activation)
    rng = np.random.default_rng(5)
    w = 3.0 * rng.normal(size=network.n_parameters)
    if kind == "zero":
        w[: 4 * width], w[4 * width : -1], w[-1] = 0.0, 6.0, 3.0
    row, options = np.array([[size, 0.0, 0.0]]), {"sigma": sigma, "link": link}
    # Of this thread alone: a library's other threads spin while they wait.
    start = time.thread_time()
    _, interval = smooth_probability(network, w, row, return_interval=True, **options)
    assert time.thread_time() - start < 1.0
    draws = 4000
    noise = sigma * rng.normal(size=(draws, 4 * width + width + 1))
    hidden, out = (w + noise)[:, : 4 * width], (w + noise)[:, 4 * width :]
    mean = size * hidden[:, : 3 * width : 3] + hidden[:, 3 * width :]
    act = {"relu": lambda y: y.clip(0), "tanh": np.tanh, "silu": lambda y: y / (1 + np.exp(-y))}
    with np.errstate(over="ignore"):
        logit = (act[activation](mean) * out[:, :-1]).sum(1) + out[:, -1]
    link_score = {"step": np.heaviside(logit, 0.5), "probit": ndtr(logit)}
    score = link_score.get(link, 0.5 * (1.0 + np.tanh(0.5 * logit))).mean()
    slack = 5.0 / math.sqrt(draws) * 0.5
    assert interval[0, 0] - slack <= score <= interval[0, 1] + slack


@pytest.mark.parametrize("activation", ["relu", "silu"])
def test_scores_that_overflow_are_unknown_and_no_nan(activation):
    network = Network(2, (4,), activation)
    w = 1e160 * np.random.default_rng(0).normal(size=network.n_parameters)
    with pytest.warns(UserWarning, match="known only within"):
        score, interval = smooth_probability(
            network, w, np.array([[1.0, 1.0]]), sigma=0.5, return_interval=True
        )
    assert 0.0 <= score[0] <= 1.0
    assert interval.tolist() == [[0.0, 1.0]]


def test_a_certain_network_is_known_to_be_certain():
    # Chernoff's bound must not lose a unit that is surely on, nor one that hardly varies.
    for activation in ("relu", "tanh", "silu"):
        network = Network(3, (200,), activation)
        w = 3.0 * np.random.default_rng(5).normal(size=network.n_parameters)
        _, interval = smooth_probability(
            network, w, np.array([[1.0, 0.0, 0.0]]), sigma=1e-3, link="step", return_interval=True
        )
        assert np.diff(interval).max() < 1e-9


@pytest.mark.parametrize("activation", ["tanh", "silu"])
@pytest.mark.parametrize("scale", [1e-3, 0.05, 0.2])
@pytest.mark.parametrize("tilt", [-300.0, -3.0, 0.5, 100.0])
def test_exponential_moments_of_units_that_hardly_vary_are_bounded_closely(activation, scale, tilt):
    mean, sigma = 0.7, 0.01
    units = SmoothUnits(
        torch.tensor([[mean]]).double(),
        torch.tensor([scale]).double(),
        torch.ones(1, 1).double(),
        sigma,
        activation,
    )
    bound = units.log_exponential_moment(torch.tensor([tilt]).double()).item()
    z = np.linspace(-12.0, 12.0 + 0.0, 200_001) + tilt * scale * 0.5
    y = mean + scale * z
    h = np.tanh(y) if activation == "tanh" else y / (1.0 + np.exp(-y))
    exponent = tilt * h + 0.5 * (tilt * sigma * h) ** 2 - 0.5 * z**2
    truth = logsumexp(exponent) + math.log((z[1] - z[0]) / math.sqrt(2.0 * math.pi))
    assert truth <= bound + 1e-9
    assert bound <= truth + abs(tilt) * scale**2 + (1.2 * tilt * scale) ** 2 + 0.01
