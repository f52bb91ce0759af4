r"""The game of ARL: what learner and adversary are told by one batch, in closed form.

With :math:`\ell_i` the losses, :math:`a_i` the adversary's outputs and :math:`\bar a` their
mean, the adversary descends minus the weighted loss, whose derivative is

.. math::
    \frac{\partial}{\partial a_i} \Big[ -\frac{1}{m} \sum_j \lambda_j \ell_j \Big]
    = -\frac{1}{m \bar a} \Big[ \ell_i - \frac{\sum_j \ell_j a_j}{m \bar a} \Big],

without the second term where the mean is held at its floor. The adversary is linear before
its sigmoid, so that its two layers are applied, and derived, as one vector.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from fairsmooth.baselines._kit.layers import (
    Array,
    FlatParameters,
    linears,
    positive_part,
    sigmoid,
    softplus,
)

_SMALLEST_MEAN = 1e-4
# TensorFlow's Adagrad starts its accumulator here; torch's starts at 0.
_FIRST_SQUARE = 0.1


def row_losses(learner: nn.Module, rows: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of every row, shape ``(m,)``."""
    return binary_cross_entropy_with_logits(learner(rows).squeeze(1), labels, reduction="none")


def adversary_weights(adversary: nn.Module, rows: Tensor, labels: Tensor) -> Tensor:
    """Return λ of every row: 1 plus the adversary's output over its mean, shape ``(m,)``."""
    seen = torch.cat([rows, labels[:, None]], dim=1)
    outputs = torch.sigmoid(adversary(seen).squeeze(1))
    return 1.0 + outputs / outputs.mean().clamp_min(_SMALLEST_MEAN)


class Adagrad:
    """Adagrad as TensorFlow has it: the sum of squared gradients starts at 0.1, not at 0.

    The steps are those of ``torch.optim.Adagrad`` at a third of its time, most of which
    goes into its bookkeeping.

    Parameters
    ----------
    parameters : FlatParameters
        What to step on, along its gradient.
    learning_rate : float
        Step size.
    """

    def __init__(self, parameters: FlatParameters, learning_rate: float) -> None:
        self._values, self._gradient = parameters.arrays(parameters.values)
        self._squares = np.full_like(self._values, _FIRST_SQUARE)
        self._learning_rate = learning_rate

    def step(self) -> None:
        """Take one step."""
        self._squares += self._gradient * self._gradient
        scaled = self._gradient / np.sqrt(self._squares)
        scaled *= self._learning_rate
        self._values -= scaled


class Answer(NamedTuple):
    """What a learner says of a batch: the inputs of its layers, and its logits, ``(m,)``."""

    inputs: list[Array]
    logits: Array


class LearnerStep:
    """Writes the gradient of a weighted cross-entropy, for a network with ReLU.

    Parameters
    ----------
    learner : nn.Sequential
        Its parameters become views into ``parameters.values``.
    """

    def __init__(self, learner: nn.Sequential) -> None:
        self.parameters = FlatParameters(list(learner.parameters()))
        self._layers = [self.parameters.layer(each) for each in linears(learner)]

    def answer(self, rows: Array) -> Answer:
        """Return the logits of rows, and what :meth:`write_gradient` needs besides."""
        inputs = [rows]
        for layer in self._layers[:-1]:
            inputs.append(positive_part(layer.forward(inputs[-1])))
        return Answer(inputs, self._layers[-1].forward(inputs[-1])[:, 0])

    def write_gradient(self, answer: Answer, labels: Array, weights: Array | float) -> None:
        """Write the gradient of the mean of weights times losses."""
        scores = sigmoid(answer.logits.copy())
        errors: Array = ((scores - labels) * weights / len(labels))[:, None]
        for layer, inputs in zip(self._layers[:0:-1], answer.inputs[:0:-1], strict=True):
            layer.backward(inputs, errors)
            errors = errors @ layer.weight
            errors *= inputs > 0
        self._layers[0].backward(answer.inputs[0], errors)


class AdversaryStep:
    """Writes the gradient of minus the weighted loss, for an adversary of two linear layers.

    Parameters
    ----------
    adversary : nn.Sequential
        Its parameters become views into ``parameters.values``.
    """

    def __init__(self, adversary: nn.Sequential) -> None:
        self.parameters = FlatParameters(list(adversary.parameters()))
        self._first, self._last = (self.parameters.layer(each) for each in linears(adversary))

    def outputs(self, seen: Array) -> Array:
        """Return the adversary's outputs between 0 and 1, shape ``(m,)``."""
        direction = self._last.weight[0]
        constant = direction @ self._first.bias + self._last.bias[0]
        return sigmoid(seen @ (direction @ self._first.weight) + constant)

    def write_gradient(self, seen: Array, outputs: Array, losses: Array) -> None:
        """Write the gradient of minus the mean of weights times ``losses``."""
        total, floor = np.add.reduce(outputs), len(outputs) * _SMALLEST_MEAN
        excess = losses - (losses @ outputs) / total if total >= floor else losses
        errors = excess * outputs * (1.0 - outputs)
        errors /= -max(total, floor)
        self._write_linear_gradient(errors @ seen, np.add.reduce(errors))

    def _write_linear_gradient(self, pulled: Array, total: Array) -> None:
        first, last = self._first, self._last
        direction = last.weight[0]
        np.outer(direction, pulled, out=first.weight_gradient)
        np.multiply(direction, total, out=first.bias_gradient)
        last.weight_gradient[0] = first.weight @ pulled + first.bias * total
        last.bias_gradient[0] = total


def logistic_losses(logits: Array, labels: Array) -> Array:
    """Return the cross-entropy of every row from its logit."""
    return softplus((1.0 - 2.0 * labels) * logits)


def outputs_to_weights(outputs: Array) -> Array:
    """Return λ of every row, as :func:`adversary_weights` defines it."""
    mean = np.add.reduce(outputs) / len(outputs)
    weights: Array = 1.0 + outputs / max(mean, _SMALLEST_MEAN)
    return weights
