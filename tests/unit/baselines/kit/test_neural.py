import math

import numpy as np
import pytest
import torch
from torch import nn

from fairsmooth.baselines._kit.neural import build_mlp, evaluate
from fairsmooth.exceptions import InputError


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def flat(network):
    return nn.utils.parameters_to_vector(network.parameters()).detach()


def test_equal_generators_build_equal_networks_and_leave_the_global_stream_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = build_mlp((4, 3, 1), generator=generator())
    second = build_mlp((4, 3, 1), generator=generator())
    other = build_mlp((4, 3, 1), generator=generator(1))
    assert torch.equal(flat(first), flat(second))
    assert not torch.equal(flat(first), flat(other))
    assert torch.equal(before, torch.get_rng_state())


def test_initial_weights_are_uniform_within_one_over_root_of_inputs():
    layer = build_mlp((100, 500), generator=generator())[0]
    bound = 1 / math.sqrt(100)
    assert layer.weight.abs().max() <= bound
    assert layer.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)
    assert layer.bias.abs().max() <= bound


@pytest.mark.parametrize(("activate_output", "expected"), [(False, 1), (True, 2)])
def test_activation_follows_every_layer_but_the_last_unless_asked(activate_output, expected):
    network = build_mlp((4, 3, 2), "tanh", generator=generator(), activate_output=activate_output)
    assert sum(isinstance(layer, nn.Tanh) for layer in network) == expected


def test_identity_stack_is_one_linear_map():
    network = build_mlp((3, 5, 1), "identity", generator=generator(), dtype=torch.float64)
    rows = torch.randn(7, 3, dtype=torch.float64, generator=generator())
    first, last = network[0], network[2]
    expected = rows @ (last.weight @ first.weight).T + last.weight @ first.bias + last.bias
    torch.testing.assert_close(network(rows), expected)


def test_unknown_activation_lists_the_choices():
    with pytest.raises(InputError, match="Expected activation to be one of 'relu'"):
        build_mlp((2, 1), "softplus", generator=generator())


@pytest.mark.parametrize("chunk_rows", [1, 3, 7, 100])
def test_chunks_change_nothing(chunk_rows):
    network = build_mlp((2, 4, 3), generator=generator())
    X = np.random.default_rng(0).normal(size=(7, 2))
    found = evaluate(network, X, chunk_rows=chunk_rows)
    whole = network(torch.as_tensor(X, dtype=torch.float32)).detach().numpy()
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, whole, atol=1e-6)
