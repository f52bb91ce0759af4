import math

import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing import smooth_network, smooth_probability
from fairsmooth.core.smoothing.hidden import smooth_hidden
from fairsmooth.core.smoothing.linear import LINKS
from fairsmooth.core.smoothing.plan import Accuracy

FINE = Accuracy(tail=28.0, truncation=1e-12, finer=10.0)


@st.composite
def problems(draw, activations=("relu",)):
    """Networks, weights and rows over many scales; biases push logits up to ±50."""
    inputs = draw(st.sampled_from([1, 2, 30, 500]))
    width = draw(st.sampled_from([1, 2, 3, 10, 64, 512]))
    network = Network(inputs, (width,), draw(st.sampled_from(activations)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    inner, outer, size = (10.0 ** draw(st.floats(-3, 1)) for _ in range(3))
    parameters = torch.randn(network.n_parameters, generator=generator, dtype=torch.float64)
    parameters[: -width - 1] *= inner / math.sqrt(inputs)
    parameters[-width - 1 :] *= outer / math.sqrt(width)
    rows = size * torch.randn(3, inputs, generator=generator, dtype=torch.float64)
    # Scores near 0 or 1 hide errors: centre the logits first, then push them.
    parameters[-1] -= network.logits(parameters, rows).mean()
    parameters[-1] += draw(st.sampled_from([0.0, 1.0, 5.0, 50.0])) * draw(st.floats(-1, 1))
    sigma = 10.0 ** draw(st.floats(-2, math.log10(2.0)))
    return network, parameters, rows, sigma


@settings(max_examples=150)
@given(problems(), st.sampled_from(LINKS))
def test_error_stays_below_one_in_a_million_and_within_its_estimate(problem, link):
    network, parameters, X, sigma = problem
    score, error = smooth_hidden(network, parameters, X, sigma=sigma, link=link)
    truth, _ = smooth_hidden(network, parameters, X, sigma=sigma, link=link, accuracy=FINE)
    gap = (score - truth).abs()
    assert gap.max() <= 1e-6
    assert (gap <= error).all()


@settings(max_examples=15)
@given(problems(("tanh", "silu")))
def test_smooth_activations_stay_within_the_same_error(problem):
    network, parameters, X, sigma = problem
    parameters, X = parameters / 3.0, X / 3.0
    options = {"sigma": sigma, "link": "logistic"}
    score, _ = smooth_hidden(network, parameters, X, **options)
    truth, _ = smooth_hidden(network, parameters, X, accuracy=Accuracy(24.0, 1e-11, 3.0), **options)
    assert (score - truth).abs().max() <= 1e-6


@settings(max_examples=50)
@given(
    st.integers(1, 5),
    st.integers(1, 6),
    st.floats(-12, 12),
    st.floats(-12, 12),
    st.floats(-6, 2),
    st.sampled_from(LINKS),
)
@example(1, 1, 12.0, 12.0, 2.0, "logistic")
@example(1, 1, -12.0, 12.0, -6.0, "step")
def test_no_scale_overflows(inputs, width, log_weight, log_row, log_sigma, link):
    network = Network(inputs, (width,))
    generator = torch.Generator().manual_seed(0)
    parameters = torch.randn(network.n_parameters, generator=generator).double() * 10.0**log_weight
    X = torch.randn(2, inputs, generator=generator).double() * 10.0**log_row
    parameters.requires_grad_()
    # Few units and enormous noise need nodes in proportion to sigma·s; keep the test quick.
    sigma = min(10.0**log_sigma, 30.0 / (1.0 + float(X.abs().max())))
    score = smooth_network(network, parameters, X, sigma=sigma, link=link)
    score.sum().backward()
    assert ((score >= 0) & (score <= 1)).all()
    assert torch.isfinite(parameters.grad).all()


@settings(max_examples=25)
@given(problems(), st.randoms(use_true_random=False))
def test_order_of_rows_and_of_hidden_units_is_irrelevant(problem, random):
    network, parameters, X, sigma = problem
    width = network.hidden_layer_sizes[0]
    order = list(range(width))
    random.shuffle(order)
    (weight, bias), (out, out_bias) = network.layers(parameters)
    pieces = [weight[order].reshape(-1), bias[order], out[:, order].reshape(-1), out_bias]
    options = {"sigma": sigma, "link": "logistic"}
    score = smooth_network(network, parameters, X, **options)
    shuffled = smooth_network(network, torch.cat(pieces), X.flip(0), **options)
    torch.testing.assert_close(shuffled.flip(0), score, atol=2e-6, rtol=0)


@settings(max_examples=25)
@given(problems())
def test_turning_the_output_over_turns_the_score_over(problem):
    network, parameters, X, sigma = problem
    width = network.hidden_layer_sizes[0]
    flipped = parameters.clone()
    flipped[-width - 1 :] *= -1.0
    score = smooth_probability(network, parameters, X, sigma=sigma)
    mirrored = smooth_probability(network, flipped, X, sigma=sigma)
    torch.testing.assert_close(score, 1.0 - mirrored, atol=2e-6, rtol=0)
