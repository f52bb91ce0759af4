"""From an estimator's arguments to an architecture and the point where training starts."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from fairsmooth._random import torch_generator
from fairsmooth.core.architecture import ACTIVATIONS, ModuleNetwork, Network
from fairsmooth.core.module_checks import private_copy
from fairsmooth.exceptions import InputError

AnyNetwork = Network | ModuleNetwork


def build(
    module: nn.Module | None, *, n_features: int, hidden_layer_sizes: Any, activation: str
) -> AnyNetwork:
    """Return the architecture that the arguments ask for; a module takes precedence."""
    if module is not None:
        # A copy: training must not change the user's module, nor the other way round.
        return ModuleNetwork(private_copy(module))
    sizes = (hidden_layer_sizes,) if isinstance(hidden_layer_sizes, int) else hidden_layer_sizes
    widths = tuple(int(size) for size in sizes)
    if any(width < 1 for width in widths):
        raise InputError(f"Expected hidden_layer_sizes of at least 1, got {widths}.")
    if activation not in ACTIVATIONS:
        raise InputError(
            f"Expected activation to be one of {list(ACTIVATIONS)}, got {activation!r}."
        )
    return Network(n_features, widths, activation)


def shared_start(architecture: AnyNetwork, *, seed: int) -> Tensor:
    r"""Return one starting point for all groups, in float64.

    Hidden units can be permuted without changing a network, so networks from
    different starts are far apart; one start keeps the groups comparable. A
    linear model starts at 0, a network at uniform weights within
    :math:`1/\sqrt{\text{inputs}}` of 0, a module at its own parameters.
    """
    if isinstance(architecture, ModuleNetwork):
        return architecture.flat.double()
    if not architecture.hidden_layer_sizes:
        return torch.zeros(architecture.n_parameters, dtype=torch.float64)
    generator = torch_generator(seed, "start")
    pieces = []
    for out, into in architecture.shapes:
        bound = 1.0 / math.sqrt(into)
        drawn = torch.rand(out * (into + 1), generator=generator, dtype=torch.float64)
        pieces.append((2.0 * drawn - 1.0) * bound)
    return torch.cat(pieces)
