"""What a file knows of a module, compared with the module that is given when it is loaded."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from fairsmooth._types import Floats
from fairsmooth.core.architecture import ModuleNetwork
from fairsmooth.core.build import AnyNetwork
from fairsmooth.exceptions import InputError
from fairsmooth.persistence.contents import BUFFER, FROZEN


def plain_architecture(architecture: AnyNetwork) -> dict[str, Any]:
    """Describe an architecture as plain data."""
    if not isinstance(architecture, ModuleNetwork):
        return {
            "kind": "network",
            "n_features": architecture.n_features,
            "hidden_layer_sizes": list(architecture.hidden_layer_sizes),
            "activation": architecture.activation,
        }
    perturbed = _perturbed(architecture)
    return {
        "kind": "module",
        "name": _class_name(architecture.module),
        "n_parameters": architecture.n_parameters,
        "parameters": [[name, list(value.shape)] for name, value in perturbed.items()],
        "modules": [[name, _class_name(m)] for name, m in architecture.module.named_modules()],
    }


def fixed_tensors(architecture: AnyNetwork) -> dict[str, Floats]:
    """Return what a module computes with besides the perturbed parameters, in float64."""
    return {name: value.double().cpu().numpy() for name, value in _fixed(architecture).items()}


def restore(
    architecture: ModuleNetwork, plain: Mapping[str, Any], tensors: Mapping[str, Floats]
) -> None:
    """Put the fixed tensors of a file into a module, after comparing it with what was saved.

    Classes are compared by their own names, not by the file that defines them: a class
    may have moved from a notebook to a package.
    """
    found = plain_architecture(architecture)
    for name, what in (
        ("name", "class"),
        ("n_parameters", "number of parameters"),
        ("parameters", "names and shapes of the parameters"),
        ("modules", "classes of the parts"),
    ):
        # Format 1 knew the class and the number only.
        if name in plain and _bare(plain[name]) != _bare(found[name]):
            raise InputError(
                f"Expected a module with the {what} that was saved ({plain[name]}), "
                f"got {found[name]}. Give load() the module that was trained."
            )
    fixed = _fixed(architecture)
    stored = {name for name in tensors if name.startswith((BUFFER, FROZEN))}
    if stored != set(fixed):
        raise InputError(f"Expected a module with {sorted(stored)}, got {sorted(fixed)}.")
    with torch.no_grad():
        for name, value in fixed.items():
            if tensors[name].size != value.numel():
                raise InputError(
                    f"Expected {name!r} of shape {tensors[name].shape}, got {tuple(value.shape)}."
                )
            # A scalar is stored with one entry.
            value.copy_(torch.tensor(tensors[name]).reshape(value.shape))


def _perturbed(architecture: ModuleNetwork) -> dict[str, Tensor]:
    """Return the parameters that the flat vector holds: all, or those that were trained."""
    named: dict[str, Tensor] = dict(architecture.module.named_parameters())
    trainable = {name: value for name, value in named.items() if value.requires_grad}
    whole = sum(value.numel() for value in named.values()) == architecture.n_parameters
    return named if whole else trainable


def _fixed(architecture: AnyNetwork) -> dict[str, Tensor]:
    if not isinstance(architecture, ModuleNetwork):
        return {}
    perturbed = _perturbed(architecture)
    buffers = {BUFFER + name: value for name, value in architecture.module.named_buffers()}
    frozen = {
        FROZEN + name: value
        for name, value in architecture.module.named_parameters()
        if name not in perturbed
    }
    return buffers | frozen


def _class_name(module: nn.Module) -> str:
    return f"{type(module).__module__}.{type(module).__qualname__}"


def _bare(value: Any) -> Any:
    if isinstance(value, str):
        return value.rsplit(".", 1)[-1]
    if isinstance(value, list):
        return [
            [pair[0], _bare(pair[1]) if isinstance(pair[1], str) else pair[1]] for pair in value
        ]
    return value
