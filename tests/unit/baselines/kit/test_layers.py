import numpy as np
import pytest
import torch
from torch import nn

from fairsmooth.baselines._kit.layers import (
    FlatParameters,
    linears,
    positive_part,
    sigmoid,
    softplus,
)
from fairsmooth.baselines._kit.neural import build_mlp


def _network(*sizes):
    generator = torch.Generator().manual_seed(0)
    return build_mlp(sizes, generator=generator, dtype=torch.float64)


def test_networks_see_what_is_done_to_the_flat_vector_and_keep_their_outputs():
    network, rows = _network(3, 4, 1), torch.ones((2, 3), dtype=torch.float64)
    before = network(rows).detach()
    flat = FlatParameters(list(network.parameters()))
    torch.testing.assert_close(network(rows), before, rtol=0, atol=0)
    flat.values.zero_()
    flat.values.grad.fill_(2.0)
    assert network(rows).abs().max() == 0
    assert all(bool((parameter.grad == 2).all()) for parameter in network.parameters())


def test_two_layers_side_by_side_are_both_of_them_at_once():
    first, second = linears(_network(3, 4)) + linears(_network(3, 2))
    flat = FlatParameters([first.weight, second.weight, first.bias, second.bias])
    both, rows = flat.layer(first, second), np.random.default_rng(0).normal(size=(5, 3))
    seen = torch.tensor(rows)
    expected = torch.cat([first(seen), second(seen)], dim=1)
    np.testing.assert_allclose(both.forward(rows), expected.detach().numpy(), atol=1e-12)
    errors = np.random.default_rng(1).normal(size=(5, 6))
    both.backward(rows, errors)
    weights = torch.autograd.grad(
        (expected * torch.tensor(errors)).sum(), [first.weight, second.weight, second.bias]
    )
    torch.testing.assert_close(first.weight.grad, weights[0])
    torch.testing.assert_close(second.weight.grad, weights[1])
    torch.testing.assert_close(second.bias.grad, weights[2])


@pytest.mark.parametrize(
    ("ours", "definition"),
    [
        (positive_part, lambda x: np.where(x > 0, x, 0)),
        (softplus, lambda x: np.logaddexp(0, x)),
        (sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    ],
)
def test_activations_are_what_they_are_called(ours, definition):
    x = np.array([[-400.0, -2.0, 0.0, 1.0, 700.0]])
    np.testing.assert_allclose(ours(x.copy()), definition(x), rtol=1e-12)


def test_only_linear_layers_are_listed():
    assert [layer.out_features for layer in linears(_network(3, 4, 1))] == [4, 1]
    assert linears(nn.Sequential(nn.ReLU())) == []
