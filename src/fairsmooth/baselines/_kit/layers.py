"""Linear layers on one flat vector, with gradients written by hand.

A step on a hundred rows of a small network is a few hundred thousand multiplications;
recording and replaying them costs several times what they do. So the gradient is spelt
out, in NumPy, whose calls cost least, and the optimiser sees a single vector.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Array = NDArray[Any]


class Layer(NamedTuple):
    """A linear map of rows: its weights, and where their gradients go.

    Attributes
    ----------
    weight, bias : ndarray of shape (outputs, inputs) and (outputs,)
        Views into the flat values.
    weight_gradient, bias_gradient : ndarray
        The same places in the flat gradient.
    """

    weight: Array
    bias: Array
    weight_gradient: Array
    bias_gradient: Array

    def forward(self, inputs: Array) -> Array:
        """Return the outputs, shape (rows, outputs)."""
        outputs: Array = inputs @ self.weight.T
        outputs += self.bias
        return outputs

    def backward(self, inputs: Array, errors: Array) -> None:
        """Write the gradients, given the derivatives in the outputs."""
        np.matmul(errors.T, inputs, out=self.weight_gradient)
        # Products are quicker than sums over columns.
        np.matmul(np.ones(len(errors), dtype=errors.dtype), errors, out=self.bias_gradient)


class FlatParameters:
    """Parameters moved into one vector, which an optimiser can step on at once.

    The parameters stay what they were and become views: whoever holds the network sees
    every step, and the ``grad`` of each is a view of ``values.grad``.

    Parameters
    ----------
    parameters : sequence of Tensor
        In the order in which they shall lie.

    Attributes
    ----------
    values : Tensor of shape (m,)
        All of them; ``values.grad`` is the gradient, 0 at first.

    Examples
    --------
    >>> network = nn.Linear(2, 1)
    >>> flat = FlatParameters(list(network.parameters()))
    >>> _ = flat.values.fill_(1.0)
    >>> network(torch.tensor([[1.0, 2.0]])).item()
    4.0
    """

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self.values: Tensor = nn.utils.parameters_to_vector(parameters).detach().clone()
        gradient = torch.zeros_like(self.values)
        self.values.grad = gradient
        sizes = [parameter.numel() for parameter in parameters]
        for parameter, value, slope in zip(
            parameters, self.values.split(sizes), gradient.split(sizes), strict=True
        ):
            parameter.data = value.view_as(parameter)
            parameter.grad = slope.view_as(parameter)
        self._arrays = self.values.numpy(), gradient.numpy()

    def arrays(self, *parameters: Tensor) -> tuple[Array, Array]:
        """Return values and gradient of parameters stacked along their first axis.

        They must lie next to each other, in the order given.
        """
        first = parameters[0]
        start, size = first.storage_offset(), sum(each.numel() for each in parameters)
        shape = (-1, *first.shape[1:])
        values, gradient = (flat[start : start + size].reshape(shape) for flat in self._arrays)
        return values, gradient

    def layer(self, *linears: nn.Linear) -> Layer:
        """Return layers of the same inputs as one, the outputs of the first on top."""
        weight, weight_gradient = self.arrays(*(linear.weight for linear in linears))
        bias, bias_gradient = self.arrays(*(linear.bias for linear in linears))
        return Layer(weight, bias, weight_gradient, bias_gradient)


def positive_part(outputs: Array) -> Array:
    """Apply the ReLU in place."""
    # Many times as fast as NumPy's maximum; so are softplus and sigmoid below.
    torch.from_numpy(outputs).relu_()
    return outputs


def softplus(logits: Array) -> Array:
    """Return log(1 + exp(logits))."""
    result: Array = nn.functional.softplus(torch.from_numpy(logits)).numpy()
    return result


def sigmoid(logits: Array) -> Array:
    """Apply the logistic function in place."""
    torch.from_numpy(logits).sigmoid_()
    return logits


def linears(network: nn.Sequential) -> list[nn.Linear]:
    """Return the linear layers of a network, in their order."""
    return [module for module in network if isinstance(module, nn.Linear)]
