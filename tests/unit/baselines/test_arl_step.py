import numpy as np
import pytest
import torch

from fairsmooth.baselines._kit.layers import FlatParameters
from fairsmooth.baselines._kit.neural import build_mlp
from fairsmooth.baselines.arl.step import (
    Adagrad,
    AdversaryStep,
    LearnerStep,
    adversary_weights,
    logistic_losses,
    outputs_to_weights,
    row_losses,
)


def _network(*sizes, activation="relu"):
    generator = torch.Generator().manual_seed(0)
    return build_mlp(sizes, activation, generator=generator, dtype=torch.float64)


def _batch(n_rows=30):
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn((n_rows, 4), generator=generator, dtype=torch.float64)
    return rows, (torch.rand(n_rows, generator=generator) < 0.4).to(torch.float64)


def _assert_gradient(network, objective):
    expected = torch.autograd.grad(objective, list(network.parameters()))
    for parameter, gradient in zip(network.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("weighted", [True, False])
def test_learner_gradient_is_that_of_automatic_differentiation(weighted):
    (rows, labels), learner = _batch(), _network(4, 6, 5, 1)
    weights = torch.arange(30, dtype=torch.float64) if weighted else torch.ones(30)
    step = LearnerStep(learner)
    answer = step.answer(rows.numpy())
    step.write_gradient(answer, labels.numpy(), weights.numpy() if weighted else 1.0)
    losses = row_losses(learner, rows, labels)
    ours = logistic_losses(answer.logits, labels.numpy())
    np.testing.assert_allclose(ours, losses.detach().numpy(), rtol=1e-12)
    _assert_gradient(learner, (weights * losses).mean())


# The last makes the mean output fall below its floor.
@pytest.mark.parametrize("shift", [0.0, 3.0, -15.0])
def test_adversary_gradient_is_that_of_automatic_differentiation(shift):
    (rows, labels), adversary = _batch(), _network(5, 6, 1, activation="identity")
    with torch.no_grad():
        adversary[-1].bias += shift
    losses = torch.linspace(0.1, 2.0, 30, dtype=torch.float64)
    seen = torch.column_stack([rows, labels]).numpy()
    step = AdversaryStep(adversary)
    outputs = step.outputs(seen)
    step.write_gradient(seen, outputs, losses.numpy())
    weights = adversary_weights(adversary, rows, labels)
    np.testing.assert_allclose(outputs_to_weights(outputs), weights.detach().numpy(), rtol=1e-12)
    _assert_gradient(adversary, -(weights * losses).mean())


def test_adagrad_is_that_of_torch_with_the_accumulator_of_tensorflow():
    ours, theirs = _network(4, 3, 1), _network(4, 3, 1)
    flat = FlatParameters(list(ours.parameters()))
    optimizers = (
        Adagrad(flat, 0.3),
        torch.optim.Adagrad(theirs.parameters(), lr=0.3, initial_accumulator_value=0.1, eps=0.0),
    )
    for scale in (1.0, -0.2, 3.0):
        for parameter, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            other.grad = scale * other.detach().sin()
            parameter.grad.copy_(other.grad)
        for optimizer in optimizers:
            optimizer.step()
    for parameter, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(parameter, other)
