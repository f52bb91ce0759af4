r"""The gradient of FCRL's objective in closed form.

With :math:`\ell` the objective of :func:`~.contrastive.fair_loss` on m rows, of which
:math:`n_k` are of group k, :math:`p_{ij} = q_i \cdot v_j` and :math:`q_i = u_i W_k`,

.. math::
    \frac{\partial \ell}{\partial p_{ij}} = \frac{\lambda}{m}\, \varsigma(p_{ij})
    \Big[ \frac{1}{n_k (\bar s_i + \delta)} - \frac{1[i = j]}{s_{ii} + \delta} \Big]

for i and j of one group, :math:`\bar s_i` the mean of :math:`s_{ij} = \mathrm{softplus}(p_{ij})`
over the group; other pairs do not occur. So only the groups' own blocks are computed.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from fairsmooth.baselines._kit.layers import (
    Array,
    FlatParameters,
    linears,
    positive_part,
    sigmoid,
    softplus,
)
from fairsmooth.baselines.fcrl.contrastive import INSIDE_LOGARITHMS, FairRepresentation


class GroupedBatch(NamedTuple):
    """Rows of one step, those of the first group first.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Which rows.
    noise : ndarray of shape (m, n_components)
        Standard normal noise of their representation.
    sizes : list of int
        How many rows of every group.
    """

    rows: Array
    noise: Array
    sizes: list[int]


def grouped_batches(
    codes: Tensor, batch_size: int, *, n_groups: int, n_components: int, generator: torch.Generator
) -> Iterator[GroupedBatch]:
    """Yield one epoch of batches in random order, each sorted by group, with its noise.

    Parameters
    ----------
    codes : Tensor of shape (n,)
        Group of every row.
    batch_size : int
        Rows per batch; the last may have fewer.
    n_groups, n_components : int
        Number of groups and dimension of the representation.
    generator : torch.Generator
        Gives the order of all rows, then the noise batch by batch.
    """
    order = torch.randperm(len(codes), generator=generator)
    noise = torch.empty((len(codes), n_components))
    for part in noise.split(batch_size):
        part.normal_(generator=generator)
    places = n_groups * (torch.arange(len(codes)) // batch_size) + codes[order]
    sorted_places = torch.argsort(places, stable=True)
    n_batches = -(-len(codes) // batch_size)
    sizes = torch.bincount(places, minlength=n_batches * n_groups).view(n_batches, n_groups)
    parts = order[sorted_places].split(batch_size), noise[sorted_places].split(batch_size)
    for rows, own_noise, own_sizes in zip(*parts, sizes.tolist(), strict=True):
        yield GroupedBatch(rows.numpy(), own_noise.numpy(), own_sizes)


class FairStep:
    r"""Writes the gradient of the objective on a batch where an optimiser finds it.

    Parameters
    ----------
    networks : FairRepresentation
        Their parameters become views into ``parameters.values``.
    information_weight, compression_weight : float
        :math:`\lambda` and :math:`\beta` of the objective.

    Attributes
    ----------
    parameters : FlatParameters
        All parameters, for the optimiser.
    """

    def __init__(
        self,
        networks: FairRepresentation,
        *,
        information_weight: float,
        compression_weight: float,
    ) -> None:
        encoder, row_critic = linears(networks.encoder), linears(networks.row_critic)
        self.parameters = FlatParameters(_adjacent(networks, encoder[0], row_critic[0]))
        layer = self.parameters.layer
        # Encoder and critic read the same rows: one product serves both.
        self._rows_layer = layer(encoder[0], row_critic[0])
        self._code_layer = layer(encoder[1])
        self._row_critic_layer = layer(row_critic[1])
        self._code_critic_layer = layer(*linears(networks.code_critic))
        self._predictor_layers = [layer(each) for each in linears(networks.predictor)]
        self._couplings, self._coupling_gradients = self.parameters.arrays(networks.couplings)
        self._information_weight = information_weight
        self._compression_weight = compression_weight

    def write_gradient(
        self, rows: Array, labels: Array, one_hot: Array, noise: Array, sizes: list[int]
    ) -> None:
        """Write the gradient of the objective on rows sorted by group.

        Parameters
        ----------
        rows : ndarray of shape (m, d)
            The rows.
        labels : ndarray of shape (m,)
            Labels 0 and 1.
        one_hot : ndarray of shape (m, n_groups)
            Their groups.
        noise : ndarray of shape (m, n_components)
            Noise of the representation.
        sizes : list of int
            How many rows of every group.
        """
        hidden = positive_part(self._rows_layer.forward(rows))
        encoder_hidden, critic_hidden = _halves(hidden)
        outputs = self._code_layer.forward(encoder_hidden)
        raw = np.ascontiguousarray(outputs[:, 1::2])
        deviations = softplus(raw)
        sample = outputs[:, 0::2] + deviations * noise
        sample_errors = self._predictor_errors(sample, labels, one_hot)
        row_errors, code_errors = self._information_errors(
            self._row_critic_layer.forward(critic_hidden),
            self._code_critic_layer.forward(sample),
            sizes,
        )
        self._code_critic_layer.backward(sample, code_errors)
        sample_errors += code_errors @ self._code_critic_layer.weight

        scale = self._compression_weight / len(rows)
        errors = np.empty_like(outputs)
        errors[:, 0::2] = sample_errors + scale * outputs[:, 0::2]
        spread_errors = sample_errors * noise + scale * (deviations - 1.0 / deviations)
        errors[:, 1::2] = spread_errors * sigmoid(raw)
        self._code_layer.backward(encoder_hidden, errors)
        self._row_critic_layer.backward(critic_hidden, row_errors)

        hidden_errors = np.empty_like(hidden)
        encoder_errors, critic_errors = _halves(hidden_errors)
        np.matmul(errors, self._code_layer.weight, out=encoder_errors)
        np.matmul(row_errors, self._row_critic_layer.weight, out=critic_errors)
        hidden_errors *= hidden > 0
        self._rows_layer.backward(rows, hidden_errors)

    def _predictor_errors(self, sample: Array, labels: Array, one_hot: Array) -> Array:
        """Write the predictor's gradient; return the derivative in the sample."""
        first, last = self._predictor_layers
        inputs = np.concatenate([sample, one_hot], axis=1)
        hidden = positive_part(first.forward(inputs))
        errors = sigmoid(last.forward(hidden))
        errors -= labels[:, None]
        errors /= len(labels)
        last.backward(hidden, errors)
        hidden_errors = errors * last.weight
        hidden_errors *= hidden > 0
        first.backward(inputs, hidden_errors)
        derivative: Array = hidden_errors @ first.weight[:, : sample.shape[1]]
        return derivative

    def _information_errors(
        self, row_codes: Array, codes: Array, sizes: list[int]
    ) -> tuple[Array, Array]:
        """Write the couplings' gradient; return the derivatives in u and v."""
        weight = self._information_weight / len(codes)
        row_errors, code_errors = np.empty_like(row_codes), np.empty_like(codes)
        start = 0
        for k, size in enumerate(sizes):
            own, start = slice(start, start + size), start + size
            u, v, coupling = row_codes[own], codes[own], self._couplings[k]
            q = u @ coupling
            q_errors, code_errors[own] = _block_errors(q, v, weight)
            np.matmul(q_errors, coupling.T, out=row_errors[own])
            np.matmul(u.T, q_errors, out=self._coupling_gradients[k])
        return row_errors, code_errors


def _block_errors(q: Array, v: Array, weight: float) -> tuple[Array, Array]:
    """Return the derivatives of minus the weighted information of one group in q and v."""
    products = q @ v.T
    affinities = softplus(products)
    slopes = sigmoid(products)
    # n times the mean over the group, and again a product instead of a sum.
    contrast = affinities @ np.ones(len(q), dtype=q.dtype) + len(q) * INSIDE_LOGARITHMS
    pull = (weight / contrast)[:, None]
    push = (weight * slopes.diagonal() / (affinities.diagonal() + INSIDE_LOGARITHMS))[:, None]
    return pull * (slopes @ v) - push * v, slopes.T @ (pull * q) - push * q


def _halves(columns: Array) -> tuple[Array, Array]:
    middle = columns.shape[1] // 2
    return columns[:, :middle], columns[:, middle:]


def _adjacent(networks: FairRepresentation, *first: nn.Linear) -> list[Tensor]:
    """Return all parameters, those of the layers named next to each other."""
    together: list[Tensor] = [layer.weight for layer in first] + [layer.bias for layer in first]
    named = {id(parameter) for parameter in together}
    return together + [each for each in networks.parameters() if id(each) not in named]
