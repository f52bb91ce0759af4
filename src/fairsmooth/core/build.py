"""From an estimator's arguments to an architecture and the point where training starts."""

import copy
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from fairsmooth._random import torch_generator
from fairsmooth.core.architecture import ACTIVATIONS, ModuleNetwork, Network
from fairsmooth.exceptions import InputError

AnyNetwork = Network | ModuleNetwork

_MAX_PARAMETERS = 10_000_000


def build(
    module: nn.Module | None, *, n_features: int, hidden_layer_sizes: Any, activation: str
) -> AnyNetwork:
    """Return the architecture that the arguments ask for; a module takes precedence."""
    if module is not None:
        # A copy: training must not change the user's module, nor the other way round.
        return ModuleNetwork(copy.deepcopy(module).eval().double())
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
        return nn.utils.parameters_to_vector(architecture.module.parameters()).detach().double()
    if not architecture.hidden_layer_sizes:
        return torch.zeros(architecture.n_parameters, dtype=torch.float64)
    generator = torch_generator(seed, "start")
    pieces = []
    for out, into in architecture.shapes:
        bound = 1.0 / math.sqrt(into)
        drawn = torch.rand(out * (into + 1), generator=generator, dtype=torch.float64)
        pieces.append((2.0 * drawn - 1.0) * bound)
    return torch.cat(pieces)


def to_plain(architecture: AnyNetwork) -> dict[str, Any]:
    """Describe an architecture as plain data. A module is described, not stored: it is code."""
    if isinstance(architecture, ModuleNetwork):
        kind = type(architecture.module)
        return {
            "kind": "module",
            "name": f"{kind.__module__}.{kind.__qualname__}",
            "n_parameters": architecture.n_parameters,
        }
    return {
        "kind": "network",
        "n_features": architecture.n_features,
        "hidden_layer_sizes": list(architecture.hidden_layer_sizes),
        "activation": architecture.activation,
    }


def from_plain(plain: Mapping[str, Any]) -> Network:
    """Rebuild a network from :func:`to_plain`, refusing what does not fit."""
    try:
        widths = (plain["n_features"], *plain["hidden_layer_sizes"])
        activation = plain["activation"]
        if plain["kind"] != "network" or activation not in ACTIVATIONS:
            raise ValueError("unknown kind or activation")
        if not all(isinstance(width, int) and 1 <= width <= _MAX_PARAMETERS for width in widths):
            raise ValueError("a width is not a positive whole number")
        network = Network(widths[0], tuple(widths[1:]), activation)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"Expected a network as plain data, got {dict(plain)!r} ({error})."
        ) from error
    if network.n_parameters > _MAX_PARAMETERS:
        raise InputError(
            f"Expected at most {_MAX_PARAMETERS} parameters, got {network.n_parameters}."
        )
    return network
