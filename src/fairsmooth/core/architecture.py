"""Base classifiers as functions of one flat parameter vector.

Flat vectors follow :func:`torch.nn.utils.parameters_to_vector`: layer by
layer, weight ``(out, in)`` row by row, then bias.
"""

import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.func import functional_call

from fairsmooth.core.network import Network

__all__ = ["ACTIVATIONS", "Architecture", "ModuleNetwork", "Network"]

ACTIVATIONS = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "silu": nn.functional.silu,
}


class Architecture(Protocol):
    """What smoothing needs of a base classifier: one logit per row."""

    @property
    def n_parameters(self) -> int:
        """Length ``m`` of the flat parameter vector."""

    def logits(self, parameters: Tensor, X: Tensor) -> Tensor:
        """Return the logit of every row of ``X``, shape ``(n,)``."""


@dataclass(frozen=True, eq=False)
class ModuleNetwork:
    """Any ``torch.nn.Module`` with one logit per row, seen as a function of a flat vector.

    The flat vector holds the module's **trainable** parameters, in the order of
    ``parameters_to_vector``; smoothing perturbs them and nothing else. What is fixed is
    part of the function: buffers, such as the running statistics of batch
    normalisation, and parameters with ``requires_grad=False``, which all groups share.
    The module runs in evaluation mode, so dropout is off. Under these rules the module is a
    deterministic function of its trainable parameters, as Theorem 2 needs.

    Calls from several threads do not disturb each other, and the module that was
    given is never written to: weights are put into copies of its structure.
    """

    module: nn.Module
    _idle: list[nn.Module] = field(default_factory=list, init=False, repr=False)

    @cached_property
    def _named(self) -> dict[str, Tensor]:
        return {
            name: value.detach()
            for name, value in self.module.named_parameters()
            if value.requires_grad
        }

    @property
    def n_parameters(self) -> int:
        """Number of trainable scalar parameters, ``m``."""
        return sum(value.numel() for value in self._named.values())

    @property
    def flat(self) -> Tensor:
        """The module's own trainable parameters as one flat vector ``(m,)``."""
        return torch.cat([value.reshape(-1) for value in self._named.values()])

    @property
    def fixed(self) -> dict[str, Tensor]:
        """What the logits depend on besides the flat vector: buffers, frozen parameters."""
        frozen = {
            name: value.detach()
            for name, value in self.module.named_parameters()
            if not value.requires_grad
        }
        return {**dict(self.module.named_buffers()), **frozen}

    def named(self, parameters: Tensor) -> dict[str, Tensor]:
        """Cut one flat vector ``(m,)`` into the module's named trainable parameters."""
        pieces = parameters.split([value.numel() for value in self._named.values()])
        return {
            name: piece.view(value.shape)
            for (name, value), piece in zip(self._named.items(), pieces, strict=True)
        }

    def logits(self, parameters: Tensor, X: Tensor) -> Tensor:
        """Return one logit per row of ``X`` for one flat vector ``(m,)``."""
        # ``functional_call`` puts the weights into the module while it runs, so two calls
        # at a time must not share one. Taking from a list is atomic.
        try:
            copied = self._idle.pop()
        except IndexError:
            copied = self._structure()
        try:
            output: Tensor = functional_call(copied, self.named(parameters), (X,))
        finally:
            self._idle.append(copied)
        return output.reshape(X.shape[0])

    def _structure(self) -> nn.Module:
        """Copy the module without its tensors, which are shared, in evaluation mode."""
        tensors = (*self.module.parameters(), *self.module.buffers())
        return copy.deepcopy(self.module, {id(tensor): tensor for tensor in tensors}).eval()
