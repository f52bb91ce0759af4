"""At least 100,000 (parameters, input) pairs through exact smoothing: no gap beyond a bound."""

import numpy as np
import pytest
import torch

from fairsmooth.core.architecture import Network
from fairsmooth.core.certificate import certify
from fairsmooth.core.smoothing.exact import smooth_with_error

LINKS = ("logistic", "probit", "step")


class Tally:
    """Counts pairs and violations, and keeps the closest approach to a bound."""

    def __init__(self):
        self.pairs = 0
        self.violations = 0
        self.closest = 0.0

    def add(self, network, weights, X, *, sigma, link):
        certificate = certify(weights, sigma=sigma)
        stacked = np.vstack([weights, weights.mean(0)])
        scores, errors = (
            part.numpy()
            for part in smooth_with_error(
                network, torch.as_tensor(stacked), torch.as_tensor(X), sigma=sigma, link=link
            )
        )
        for group in certificate.groups:
            gaps = np.abs(scores[group] - scores[-1])
            slack = errors[group] + errors[-1]
            bound = certificate.epsilon_by_group[group]
            linear = certificate.epsilon_linear_by_group[group]
            assert bound <= linear <= certificate.epsilon
            # Near 0 and 1 the interval magnifies the error of the overall score: widen it first.
            low = certificate.interval(np.clip(scores[-1] - errors[-1], 0.0, 1.0), group)[:, 0]
            high = certificate.interval(np.clip(scores[-1] + errors[-1], 0.0, 1.0), group)[:, 1]
            outside = (scores[group] < low - slack) | (scores[group] > high + slack)
            self.pairs += len(gaps)
            self.violations += int(((gaps > bound + slack) | outside).sum())
            # A ratio near a bound of 0 would show numerical error, near 1 say nothing.
            if 1e-3 < bound < 0.9:
                self.closest = max(self.closest, float(gaps.max() / bound))


def random_model(rng, n_features, hidden):
    network = Network(n_features, hidden)
    n_groups = int(rng.integers(2, 6))
    base = rng.normal(size=network.n_parameters) * 10.0 ** rng.uniform(-1.5, 1)
    spread = 10.0 ** rng.uniform(-3, 0.5)
    weights = base + spread * rng.normal(size=(n_groups, network.n_parameters))
    return network, weights, float(10.0 ** rng.uniform(-1.5, 1))


def adversarial_inputs(network, weights, n_rows, rng):
    """Rows along weights and differences of weights, where the two logits part, at all norms."""
    width = (*network.hidden_layer_sizes, 1)[0]
    first = weights[:, : width * network.n_features].reshape(-1, width, network.n_features)
    rows = np.concatenate([(first - first.mean(0)), first]).reshape(-1, network.n_features)
    mixed = rng.normal(size=(n_rows, len(rows))) * (rng.random((n_rows, len(rows))) < 0.3) @ rows
    norms = np.linalg.norm(mixed, axis=1, keepdims=True)
    largest = 1.5 if network.hidden_layer_sizes else 4.0
    return mixed / np.maximum(norms, 1e-12) * 10.0 ** rng.uniform(-2, largest, size=(n_rows, 1))


def test_linear_models_never_exceed_a_bound():
    rng = np.random.default_rng(0)
    tally = Tally()
    while tally.pairs < 100_000:
        network, weights, sigma = random_model(rng, int(rng.integers(1, 30)), ())
        X = np.concatenate(
            [
                rng.normal(size=(60, network.n_features))
                * 10.0 ** rng.uniform(-2, 4, size=(60, 1)),
                (rng.random((60, network.n_features)) < 0.5).astype(float),
                adversarial_inputs(network, weights, 60, rng),
            ]
        )
        for link in LINKS:
            tally.add(network, weights, X, sigma=sigma, link=link)
    report(tally, "linear")


def test_hidden_layers_never_exceed_a_bound():
    rng = np.random.default_rng(1)
    tally = Tally()
    while tally.pairs < 10_000:
        hidden = (int(rng.integers(1, 6)),)
        network, weights, sigma = random_model(rng, int(rng.integers(1, 8)), hidden)
        X = np.concatenate(
            [
                rng.normal(size=(15, network.n_features)) * 3.0,
                adversarial_inputs(network, weights, 15, rng),
            ]
        )
        for link in ("logistic", "probit"):
            tally.add(network, weights, X, sigma=max(sigma, 0.1), link=link)
    report(tally, "one hidden layer")


def test_the_worst_models_come_near_and_never_exceed():
    """Step link and W* orthogonal to the difference: the input is known in closed form."""
    rng = np.random.default_rng(2)
    tally = Tally()
    for _ in range(200):
        n_features = int(rng.integers(2, 30))
        sigma = float(10.0 ** rng.uniform(-1, 1))
        overall = rng.normal(size=n_features)
        difference = rng.normal(size=n_features)
        difference -= (difference @ overall) / (overall @ overall) * overall
        # r follows sigma; the longer W*, the less turning x towards it costs.
        difference *= sigma * 10.0 ** rng.uniform(-2, 0.7) / np.linalg.norm(difference)
        overall *= 1e3 * np.linalg.norm(difference) / np.linalg.norm(overall)
        turned = difference / (difference @ difference) - 0.5 * overall / (overall @ overall)
        X = np.stack([sign * norm * turned for sign in (-1, 1) for norm in (1e2, 1e4, 1e6)])
        weights = np.pad(np.stack([overall + difference, overall - difference]), ((0, 0), (0, 1)))
        X /= np.abs(X).max() / 1e6
        tally.add(Network(n_features), weights, X, sigma=sigma, link="step")
    report(tally, "worst")
    assert tally.closest >= 0.99


@pytest.mark.slow
def test_many_more_hidden_layers():
    rng = np.random.default_rng(3)
    tally = Tally()
    while tally.pairs < 100_000:
        hidden = (int(rng.integers(1, 33)),)
        network, weights, sigma = random_model(rng, int(rng.integers(1, 40)), hidden)
        X = np.concatenate(
            [
                rng.normal(size=(50, network.n_features)),
                (rng.random((50, network.n_features)) < 0.5).astype(float),
                adversarial_inputs(network, weights, 50, rng),
            ]
        )
        for link in ("logistic", "probit"):
            tally.add(network, weights, X, sigma=max(sigma, 0.1), link=link)
    report(tally, "one hidden layer, many")


def report(tally, name):
    print(f"{name}: {tally.pairs} pairs, closest gap / bound {tally.closest:.6f}")
    assert tally.violations == 0
    # Anything but rounding would show: a ratio beyond 1 is a violation too.
    assert 0.0 < tally.closest <= 1.0 + 1e-6
