"""Small fully connected networks: built from a generator, evaluated in chunks."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fairsmooth import _validate

_ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
    "silu": nn.SiLU,
    "identity": nn.Identity,
}


def build_mlp(
    sizes: Sequence[int],
    activation: str = "relu",
    *,
    generator: torch.Generator,
    activate_output: bool = False,
    dtype: torch.dtype = torch.float32,
) -> nn.Sequential:
    r"""Build a fully connected network with weights drawn from a generator.

    Weights and biases of a layer with :math:`d` inputs are uniform on
    :math:`[-1/\sqrt{d}, 1/\sqrt{d}]`, as torch draws them by default; but the
    draws come from ``generator`` alone, and the global stream is not touched.

    Parameters
    ----------
    sizes : sequence of int
        Widths from inputs to outputs; ``(d, 1)`` is a linear model.
    activation : {"relu", "tanh", "silu", "identity"}
        Applied after every layer but the last.
    generator : torch.Generator
        Where the initial weights come from.
    activate_output : bool
        Apply the activation after the last layer too, for representations.
    dtype : torch.dtype
        Type of the weights.

    Examples
    --------
    >>> network = build_mlp((3, 4, 1), generator=torch.Generator().manual_seed(0))
    >>> network(torch.zeros(5, 3)).shape
    torch.Size([5, 1])
    """
    _validate.one_of(_ACTIVATIONS, activation=activation)
    layers: list[nn.Module] = []
    for n_inputs, n_outputs in pairwise(sizes):
        layers += [_linear(n_inputs, n_outputs, generator, dtype), _ACTIVATIONS[activation]()]
    return nn.Sequential(*(layers if activate_output else layers[:-1]))


def evaluate(
    function: Callable[[Tensor], Tensor],
    X: NDArray[Any],
    *,
    chunk_rows: int = 16_384,
    dtype: torch.dtype = torch.float32,
) -> NDArray[np.float64]:
    """Apply a function of row tensors to all rows of an array, a chunk at a time.

    Memory stays bounded by ``chunk_rows`` however many rows there are, and no
    gradient is recorded.

    Parameters
    ----------
    function : callable
        Maps ``(rows, d)`` to ``(rows, ...)``; a network, or a network and a link.
    X : ndarray of shape (n, d)
        The rows.
    chunk_rows : int
        Rows evaluated at once.
    dtype : torch.dtype
        Type in which the function computes.

    Returns
    -------
    ndarray of shape (n, ...)
        In float64.

    Examples
    --------
    >>> evaluate(lambda rows: rows.sum(dim=1), np.ones((3, 2)), chunk_rows=2)
    array([2., 2., 2.])
    """
    with torch.no_grad():
        chunks = [
            function(torch.tensor(X[start : start + chunk_rows], dtype=dtype))
            for start in range(0, len(X), chunk_rows)
        ]
    return torch.cat(chunks).to(torch.float64).numpy()


def _linear(
    n_inputs: int, n_outputs: int, generator: torch.Generator, dtype: torch.dtype
) -> nn.Linear:
    # Made without storage, then filled: the ordinary way draws from the global stream.
    layer = nn.Linear(n_inputs, n_outputs, dtype=dtype, device="meta").to_empty(device="cpu")
    bound = 1 / math.sqrt(n_inputs)
    with torch.no_grad():
        layer.weight.uniform_(-bound, bound, generator=generator)
        layer.bias.uniform_(-bound, bound, generator=generator)
    return layer
