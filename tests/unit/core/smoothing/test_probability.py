import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector

from fairsmooth.core.architecture import ModuleNetwork, Network
from fairsmooth.core.smoothing import smooth_network, smooth_probability
from fairsmooth.core.smoothing.exact import smooth_with_error
from fairsmooth.core.smoothing.rounding import round_outward
from fairsmooth.exceptions import InputError

X = np.random.default_rng(0).normal(size=(9, 4))


def parameters(network, seed=0):
    return np.random.default_rng(seed).normal(size=network.n_parameters)


def module():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Dropout(0.5), nn.Linear(5, 1)
    )


def vector(of):
    return parameters_to_vector(of.parameters()).detach()


@pytest.mark.parametrize("sizes", [(), (5,)])
def test_auto_is_exact_where_it_can_be(sizes):
    network = Network(4, sizes)
    w = parameters(network)
    got, interval = smooth_probability(network, w, X, sigma=0.5, return_interval=True)
    expected = smooth_network(network, torch.tensor(w), torch.tensor(X), sigma=0.5, link="logistic")
    np.testing.assert_allclose(got, expected.numpy(), atol=1e-12)
    assert (interval[:, 0] <= got).all()
    assert (interval[:, 1] - interval[:, 0]).max() < 2e-6


def test_kinds_of_rows_agree_and_come_back_in_kind():
    network = Network(4, (3,))
    w = parameters(network)
    array = smooth_probability(network, w, X, sigma=0.5)
    frame = smooth_probability(network, torch.tensor(w), pd.DataFrame(X), sigma=0.5)
    tensor = smooth_probability((3,), w, torch.tensor(X, dtype=torch.float32), sigma=0.5)
    assert isinstance(array, np.ndarray)
    np.testing.assert_array_equal(array, frame)
    assert tensor.dtype == torch.float32
    np.testing.assert_allclose(array, tensor.numpy(), atol=1e-6)


@pytest.mark.parametrize("sizes", [(), (3,), (3, 2)])
def test_chunks_of_rows_do_not_matter(sizes):
    network = Network(4, sizes)
    w = parameters(network)
    whole = smooth_probability(network, w, X, sigma=0.5, n_draws=64)
    parts = smooth_probability(network, w, X, sigma=0.5, n_draws=64, chunk_rows=2)
    np.testing.assert_allclose(whole, parts, atol=1e-6)


@pytest.mark.parametrize("sizes", [(), (3,), (3, 2)])
def test_no_noise_gives_the_base_classifier_and_no_rows_give_none(sizes):
    network = Network(4, sizes)
    w = parameters(network)
    logits = network.logits(torch.tensor(w), torch.tensor(X))
    got = smooth_probability(network, w, X, sigma=0.0)
    np.testing.assert_allclose(got, torch.sigmoid(logits).numpy())
    assert smooth_probability(network, w, X[:0], sigma=0.5).shape == (0,)


def test_sampled_methods_agree_with_exact_within_their_intervals():
    network = Network(4, (3,))
    w = parameters(network)
    exact = smooth_probability(network, w, X, sigma=0.5)
    for method in ("layerwise", "monte_carlo"):
        score, interval = smooth_probability(
            network, w, X, sigma=0.5, method=method, return_interval=True, simultaneous=True
        )
        assert ((interval[:, 0] <= exact) & (exact <= interval[:, 1])).all()
        assert np.abs(score - exact).max() < 0.05


@pytest.mark.parametrize("method", ["exact", "layerwise", "monte_carlo"])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_narrow_types_round_intervals_outward(method, activation):
    network = Network(4, (3,), activation)
    w = torch.tensor(parameters(network), dtype=torch.float32)
    rows = torch.randn(200, 4, generator=torch.Generator().manual_seed(0))
    options = {"sigma": 0.5, "method": method, "n_draws": 64, "return_interval": True}
    score, narrow = smooth_probability(network, w, rows, **options)
    _, wide = smooth_probability(network, w, rows.double(), **options)
    assert narrow.dtype == score.dtype == torch.float32
    assert (narrow[:, 0].double() <= wide[:, 0]).all()
    assert (narrow[:, 1].double() >= wide[:, 1]).all()
    assert ((narrow[:, 0] <= score) & (score <= narrow[:, 1])).all()
    half = smooth_probability(network, w, rows.half(), **options)[1]
    assert half.dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_errors_allow_for_rounding_to_the_type_of_the_score(dtype):
    network = Network(4, (3,))
    w, rows = torch.tensor(parameters(network)).to(dtype), torch.tensor(X).to(dtype)
    exact, _ = smooth_with_error(network, w.double(), rows.double(), sigma=0.5, link="logistic")
    score, error = smooth_with_error(network, w, rows, sigma=0.5, link="logistic")
    assert score.dtype == error.dtype == dtype
    assert ((score.double() - exact).abs() <= error.double()).all()
    assert dtype == torch.float64 or (error > 3e-7).all()


def test_rounding_outward_contains_what_was_rounded():
    values = torch.rand(1000, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    interval = values.expand(-1, 2)
    narrow = round_outward(interval, torch.float32).double()
    assert (narrow[:, 0] <= interval[:, 0]).all()
    assert (narrow[:, 1] >= interval[:, 1]).all()
    assert (narrow[:, 1] - narrow[:, 0]).max() < 2e-7


@pytest.mark.parametrize(("activation", "size"), [("silu", 3e3), ("tanh", 1e100), ("silu", 1e100)])
def test_enormous_rows_are_exact_too(activation, size):
    network = Network(4, (16,), activation)
    _, interval = smooth_probability(
        network, 0.1 * parameters(network), size * X[:2], sigma=0.1, return_interval=True
    )
    assert np.diff(interval).max() < 2e-6


def test_too_much_work_is_said_and_the_interval_still_holds():
    # A step of two-valued units needs a range of 6/sigma: the score is that of a random walk.
    network = Network(1, (2,), "tanh")
    w = np.array([0.0, 0.0, 0.0, 0.0, 5e3, 5e3, 1e3])
    with pytest.warns(UserWarning, match=r"1 of 1 rows would take too much work: .* within"):
        score, interval = smooth_probability(
            network, w, np.array([[1e9]]), sigma=1e-3, link="step", return_interval=True
        )
    assert interval[0, 0] <= 0.75 <= interval[0, 1]
    assert 0.0 <= score[0] <= 1.0


def test_intervals_of_all_rows_at_once_are_wider():
    network = Network(4, (3, 2))
    options = {"sigma": 0.5, "n_draws": 200, "return_interval": True}
    _, each = smooth_probability(network, parameters(network), X, **options)
    _, every = smooth_probability(network, parameters(network), X, simultaneous=True, **options)
    assert (np.diff(every) > np.diff(each)).all()


def test_tolerance_draws_until_intervals_are_narrow():
    network = Network(4, (3, 2))
    _, interval = smooth_probability(
        network, parameters(network), X, sigma=0.5, n_draws=64, tolerance=0.05, return_interval=True
    )
    assert np.diff(interval).max() <= 0.05


def test_modules_run_in_evaluation_mode_with_fixed_buffers_and_stay_as_they_were():
    classifier = module()
    before = {name: value.clone() for name, value in classifier.state_dict().items()}
    rows = torch.tensor(X, dtype=torch.float32)
    first = smooth_probability(classifier, vector(classifier), rows, sigma=0.3, n_draws=50)
    again = smooth_probability(
        ModuleNetwork(classifier), vector(classifier), rows, sigma=0.3, n_draws=50, chunk_rows=4
    )
    torch.testing.assert_close(first, again)
    assert classifier.training
    for name, value in classifier.state_dict().items():
        torch.testing.assert_close(value, before[name])


def test_modules_without_noise_give_their_own_score():
    classifier = module()
    got = smooth_probability(classifier, vector(classifier), X, sigma=0.0)
    with torch.no_grad():
        logits = classifier.eval()(torch.tensor(X, dtype=torch.float32)).squeeze(1)
    np.testing.assert_allclose(got, torch.sigmoid(logits).numpy(), rtol=1e-6)


def test_modules_with_shared_weights_are_perturbed_consistently():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4, bias=False)

        def forward(self, rows):
            return self.layer(torch.tanh(self.layer(rows))).sum(1)

    torch.manual_seed(0)
    tied = Tied()
    got, interval = smooth_probability(
        tied, vector(tied), X, sigma=0.3, n_draws=4000, return_interval=True
    )
    generator = torch.Generator().manual_seed(1)
    rows = torch.tensor(X, dtype=torch.float32)
    noise = 0.3 * torch.randn(4000, 4, 4, generator=generator)
    draws = tied.layer.weight.detach() + noise
    logits = (torch.tanh(rows @ draws.mT) @ draws.mT).sum(2)
    np.testing.assert_allclose(got, torch.sigmoid(logits).mean(0).numpy(), atol=0.03)
    assert (np.diff(interval) > 0).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sigma": -0.5}, r"Expected sigma >= 0, got sigma=-0.5"),
        ({"link": "cauchy"}, "Expected link to be one of 'logistic'"),
        ({"method": "magic"}, "Expected method to be one of 'auto'"),
        ({"n_draws": 0}, "Expected n_draws > 0"),
        ({"chunk_rows": 0}, "Expected chunk_rows > 0"),
        ({"confidence": 1.0}, "Expected 0 < confidence < 1, got confidence=1.0"),
        ({"tolerance": 0.0}, "Expected tolerance > 0"),
        ({"X": X[0]}, r"one row per example, got shape \(4,\)"),
        ({"X": np.full((2, 4), np.nan)}, "Expected finite X"),
        ({"X": X[:, :3]}, r"Expected X with 4 columns, got shape \(9, 3\)"),
        (
            {"parameters": np.zeros(3)},
            r"Expected 19 parameters in one flat vector, got shape \(3,\)",
        ),
        ({"parameters": np.full(19, np.nan)}, "Expected finite parameters"),
    ],
)
def test_mistakes_are_named(changes, message):
    arguments = {"parameters": np.zeros(19), "X": X, "sigma": 0.5} | changes
    with pytest.raises(InputError, match=message):
        smooth_probability(Network(4, (3,)), **arguments)


def test_methods_that_do_not_apply_are_refused():
    deep = Network(4, (3, 2))
    with pytest.raises(InputError, match=r"at most 1 hidden layer for method='exact'.*\(3, 2\)"):
        smooth_probability(deep, parameters(deep), X, sigma=0.5, method="exact")
    classifier = module()
    with pytest.raises(
        InputError, match="Expected a Network for method='layerwise', got Sequential"
    ):
        smooth_probability(classifier, vector(classifier), X, sigma=0.5, method="layerwise")


@pytest.mark.parametrize("link", ["logistic", "probit", "step"])
@pytest.mark.parametrize("method", ["auto", "monte_carlo"])
@pytest.mark.parametrize("sigma", [0.0, 0.5])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_linear_models_refuse_rows_that_are_not_finite(link, method, sigma, bad):
    """Also where no pass over the rows looks for them: a row without a length has no score."""
    for weights in (np.array([1.0, -2.0, 0.0, 0.5]), np.zeros(4)):
        for n in (1, 300):
            rows = np.random.default_rng(0).normal(size=(n, 3))
            rows[-1, 1] = bad
            with pytest.raises(InputError, match="Expected finite X, got NaN or infinity"):
                smooth_probability((), weights, rows, sigma=sigma, link=link, method=method)


def test_large_finite_rows_are_scored():
    rows = np.array([[1e200, 1e200], [-1e308, 0.0], [1.0, 2.0]])
    found = smooth_probability((), np.array([1.0, 1.0, 0.0]), rows, sigma=0.5)
    assert np.isfinite(found).all()
    assert found[0] > 0.9 > 0.1 > found[1]


def test_sampled_intervals_of_deep_networks_hold_where_float32_would_lose_a_difference():
    network = Network(2, (2, 2), "tanh")
    large = 1e5
    weights = [large, -large, large, -large, 0, 0, 2, 2, 2, 2, 0, 0, 3, 3, 0]
    rows = [[1.0 + 3e-8, 1.0]]  # alike in float32
    scaled = [3e-8 * large, 0, 3e-8 * large, 0, 0, 0, *weights[6:]]
    options = {"sigma": 0.001, "random_state": 0}
    score, interval = smooth_probability(network, weights, rows, return_interval=True, **options)
    # The same pre-activations without the cancellation, and almost the same noise on them.
    expected = smooth_probability(network, scaled, [[1.0, 1.0]], **options)
    assert interval[0, 0] <= expected[0] <= interval[0, 1]
    assert score[0] > 0.51
