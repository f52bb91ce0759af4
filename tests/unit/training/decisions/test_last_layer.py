import numpy as np
import pytest
import torch

from fairsmooth.core.architecture import Network
from fairsmooth.training.decisions.last_layer import fair_intercept, last_inputs
from fairsmooth.training.decisions.limits import GapLimits
from fairsmooth.training.decisions.line import Judge


@pytest.mark.parametrize("activation", ["relu", "tanh", "silu"])
def test_moments_are_those_of_sampled_hidden_units(activation):
    network = Network(3, (4,), activation)
    random = np.random.default_rng(0)
    parameters, X = random.normal(size=network.n_parameters), random.normal(size=(5, 3))
    found = last_inputs(network, parameters, X, sigma=0.4)
    weight, bias = network.layers(torch.as_tensor(parameters))[0]
    noise = random.normal(size=(40_000, 4, 4)) * 0.4
    drawn = np.einsum("nd,sud->snu", X, weight.numpy() + noise[..., :3])
    drawn += (bias.numpy() + noise[..., 3])[:, None, :]
    act = {"relu": torch.relu, "tanh": torch.tanh, "silu": torch.nn.functional.silu}[activation]
    values = act(torch.as_tensor(drawn)).numpy()
    assert found.mean == pytest.approx(values.mean(axis=0), abs=0.02)
    assert found.variance == pytest.approx(values.var(axis=0).mean(axis=0), rel=0.05, abs=0.01)


def test_a_linear_model_sees_its_columns():
    X = np.random.default_rng(0).normal(size=(4, 3))
    found = last_inputs(Network(3), np.zeros(4), X, sigma=1.0)
    assert np.array_equal(found.mean, X)
    assert not found.variance.any()


def test_the_intercept_is_moved_to_the_best_decisions_of_the_real_scores():
    random = np.random.default_rng(1)
    cells = random.integers(0, 4, 400)
    tilt = random.normal(size=400) + (cells % 2)
    counts = np.bincount(cells).reshape(2, 2) + 0.0
    judge = Judge(GapLimits({"demographic_parity": 0.05}, counts), cells)

    def score(w):  # rises with the intercept, at another rate in every row
        return 1.0 / (1.0 + np.exp(-(tilt + (1.0 + 0.3 * np.sin(7.0 * tilt)) * w[-1] - 1.0)))

    chosen = fair_intercept(score, np.array([0.0, 0.0]), judge, spread=1.0)
    hits = judge.hits(score(chosen) > 0.5)
    assert float(judge.limits.excess(hits)) == 0.0
    every = [judge.hits(score(np.array([0.0, step])) > 0.5) for step in np.linspace(-3, 3, 1201)]
    best = max(float(judge.limits.correct(h)) for h in every if not judge.limits.excess(h))
    assert float(judge.limits.correct(hits)) >= best - 8
