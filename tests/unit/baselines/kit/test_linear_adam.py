import numpy as np
import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from fairsmooth.baselines._kit.linear_adam import LinearAdam, linear_probabilities


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 4))
    return X, random.integers(0, 2, 60), random.normal(size=5), random


@pytest.mark.parametrize("slope", [1.0, 2.0])
def test_steps_are_those_of_torch(rows, slope):
    X, y, start, random = rows
    model = LinearAdam(X, y, start, learning_rate=0.02, slope=slope)
    weights = torch.tensor(start, dtype=torch.float32, requires_grad=True)
    reference = torch.optim.Adam([weights], lr=0.02)
    padded = torch.tensor(np.column_stack([X, np.ones(60)]), dtype=torch.float32)
    for _ in range(200):
        batch = random.integers(0, 60, 10)
        model.step(batch)
        reference.zero_grad()
        loss = binary_cross_entropy_with_logits(
            slope * padded[batch] @ weights, torch.tensor(y[batch], dtype=torch.float32)
        )
        loss.backward()
        reference.step()
    np.testing.assert_allclose(model.weights, weights.detach().numpy(), atol=2e-4)


def test_losses_are_cross_entropies(rows):
    X, y, start, _ = rows
    model = LinearAdam(X, y, start, slope=2.0)
    p = linear_probabilities(X, model.weights, slope=2.0)
    np.testing.assert_allclose(model.losses(), -np.log(np.where(y == 1, p, 1 - p)), rtol=1e-5)
    np.testing.assert_allclose(model.losses_against_positive(), -np.log(p), rtol=1e-5)


@pytest.mark.parametrize("few", [True, False])
def test_losses_and_their_order_are_those_of_every_row(few):
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (320, 3)) if few else random.normal(size=(320, 3))
    y, start = random.integers(0, 2, 320), np.array([0.5, -2.0, 40.0, -20.0])
    model = LinearAdam(X, y, start)
    assert (model._distinct is not None) == few
    logits = X @ start[:-1] + start[-1]
    np.testing.assert_allclose(
        model.losses(), np.logaddexp(0, np.where(y == 1, -logits, logits)), rtol=1e-5
    )
    np.testing.assert_allclose(model.losses_against_positive(), np.logaddexp(0, -logits), rtol=1e-5)
    np.testing.assert_array_equal(model.by_loss(), np.argsort(model.losses(), kind="stable"))


def test_slope_two_is_the_tanh_probability(rows):
    X, _, start, _ = rows
    logits = X @ start[:-1] + start[-1]
    found = linear_probabilities(X, start, slope=2.0)
    np.testing.assert_allclose(found, (np.tanh(logits) + 1) / 2)


def test_huge_logits_neither_warn_nor_leave_the_unit_interval():
    p = linear_probabilities(np.array([[1e6], [-1e6]]), np.array([1e3, 0.0]))
    assert p.tolist() == [1.0, 0.0]


def test_the_start_is_not_changed(rows):
    X, y, start, _ = rows
    kept = start.copy()
    LinearAdam(X, y, start).step(np.arange(10))
    np.testing.assert_array_equal(start, kept)
