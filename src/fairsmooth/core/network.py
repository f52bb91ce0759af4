"""Fully connected networks as plain data; who only asks what a file describes needs no torch."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Network:
    """A fully connected network with one logit; linear when it has no hidden layer.

    Parameters
    ----------
    n_features : int
        Number of inputs.
    hidden_layer_sizes : tuple of int
        Widths of the hidden layers; ``()`` is a linear model.
    activation : {"relu", "tanh", "silu"}
        Applied after every hidden layer.

    Examples
    --------
    >>> Network(3, (4,)).n_parameters
    21
    """

    n_features: int
    hidden_layer_sizes: tuple[int, ...] = ()
    activation: str = "relu"

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """The ``(out, in)`` shape of each layer's weight."""
        widths = (self.n_features, *self.hidden_layer_sizes, 1)
        return tuple((after, before) for before, after in pairwise(widths))

    @property
    def n_parameters(self) -> int:
        """Number of weights and biases, ``m``."""
        return sum(out * (into + 1) for out, into in self.shapes)

    def layers(self, parameters: "Tensor") -> "list[tuple[Tensor, Tensor]]":
        """Cut flat vectors ``(..., m)`` into ``(weight, bias)`` per layer, as views.

        Leading dimensions (groups, draws) are kept: weights come as
        ``(..., out, in)``, biases as ``(..., out)``.
        """
        cut = []
        start = 0
        for out, into in self.shapes:
            middle, end = start + out * into, start + out * (into + 1)
            weight = parameters[..., start:middle].unflatten(-1, (out, into))
            cut.append((weight, parameters[..., middle:end]))
            start = end
        return cut

    def logits(self, parameters: "Tensor", X: "Tensor") -> "Tensor":
        """Return logits ``(..., n)`` for parameters ``(..., m)`` and rows ``(..., n, d)``."""
        *hidden, (weight, bias) = self.layers(parameters)
        signal = X
        if hidden:
            from fairsmooth.core.architecture import ACTIVATIONS
        for inner_weight, inner_bias in hidden:
            signal = ACTIVATIONS[self.activation](
                signal @ inner_weight.mT + inner_bias.unsqueeze(-2)
            )
        return (signal @ weight.mT + bias.unsqueeze(-2)).squeeze(-1)
