import torch
from torch import nn

from fairsmooth.core.architecture import ModuleNetwork, Network


def _sequential(network: Network) -> nn.Sequential:
    activation = {"relu": nn.ReLU, "tanh": nn.Tanh, "silu": nn.SiLU}[network.activation]
    layers: list[nn.Module] = []
    for out, into in network.shapes:
        layers += [nn.Linear(into, out, dtype=torch.float64), activation()]
    return nn.Sequential(*layers[:-1])


def test_flat_vectors_follow_torch():
    X = torch.randn(7, 3, dtype=torch.float64)
    for activation in ("relu", "tanh", "silu"):
        network = Network(3, (5, 4), activation)
        module = _sequential(network)
        flat = nn.utils.parameters_to_vector(module.parameters()).detach()
        assert len(flat) == network.n_parameters
        torch.testing.assert_close(network.logits(flat, X), module(X).squeeze(-1))


def test_stacked_parameters_are_one_computation():
    network = Network(3, (4,))
    W = torch.randn(2, network.n_parameters, dtype=torch.float64)
    X = torch.randn(2, 6, 3, dtype=torch.float64)
    stacked = network.logits(W, X)
    torch.testing.assert_close(
        stacked, torch.stack([network.logits(w, x) for w, x in zip(W, X, strict=True)])
    )


def test_a_module_is_a_function_of_a_flat_vector():
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1)).eval()
    architecture = ModuleNetwork(module)
    flat = nn.utils.parameters_to_vector(module.parameters()).detach()
    X = torch.randn(6, 3)
    assert architecture.n_parameters == len(flat)
    torch.testing.assert_close(architecture.logits(flat, X), module(X).squeeze(-1))
    assert not torch.allclose(architecture.logits(flat + 1.0, X), module(X).squeeze(-1))
