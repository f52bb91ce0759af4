"""The control: accuracy alone, with the groups looked at only to check them."""

from typing import Any

import numpy as np
import torch
from scipy.special import expit

from fairsmooth import _validate
from fairsmooth._random import torch_generator
from fairsmooth._types import Floats, Labels
from fairsmooth.baselines._kit.logistic import WeightedLogistic
from fairsmooth.baselines._kit.neural import build_mlp, evaluate
from fairsmooth.classifier import GroupClassifier
from fairsmooth.data.groups import Groups
from fairsmooth.training.batching import shuffled_batches


class UnconstrainedClassifier(GroupClassifier):
    r"""Logistic regression, or a small network, that asks for accuracy alone.

    Without hidden layers it minimises

    .. math:: \sum_i \log\bigl(1 + e^{-(2 y_i - 1)(w \cdot x_i + c)}\bigr)
              + \frac{1}{2C} \lVert w \rVert^2

    to convergence; the result does not depend on ``random_state``. With hidden
    layers it minimises the mean cross-entropy by Adam over shuffled batches.
    Every gap of another method is read against this one.

    Parameters
    ----------
    hidden_layer_sizes : tuple of int
        ``()`` for logistic regression, ``(64,)`` for one hidden layer, and so on.
    activation : {"relu", "tanh", "silu"}
        Between the layers of a network.
    C : float
        Inverse strength of the penalty of logistic regression.
    n_epochs, batch_size, learning_rate, weight_decay
        How a network is trained; of no effect without hidden layers.
    random_state : int, RandomState or None
        Seed of a network's initial weights and batches.

    Attributes
    ----------
    coefficients_ : ndarray of shape (d + 1,)
        Slopes, then intercept; without hidden layers only.
    network_ : torch.nn.Module
        With hidden layers only.

    Examples
    --------
    >>> X, y, A = [[0.0], [1.0], [0.2], [0.9]] * 5, [0, 1, 0, 1] * 5, ["a", "a", "b", "b"] * 5
    >>> UnconstrainedClassifier().fit(X, y, sensitive_features=A).predict([[0.1], [0.8]])
    array([0, 1])
    """

    def __init__(
        self,
        *,
        hidden_layer_sizes: tuple[int, ...] = (),
        activation: str = "relu",
        C: float = 1.0,
        n_epochs: int = 20,
        batch_size: int = 128,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.C = C
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.random_state = random_state

    def _fit(self, X: Floats, y: Labels, groups: Groups) -> None:
        _validate.positive(C=self.C, batch_size=self.batch_size, learning_rate=self.learning_rate)
        if self.hidden_layer_sizes:
            self.network_ = self._trained(X, y)
        else:
            problem = WeightedLogistic(X, penalty=1.0 / self.C, max_iter=1000)
            positive = y.astype(np.float64)
            self.coefficients_ = problem.solve(positive, 1.0 - positive)

    def _scores(self, X: Floats) -> Floats:
        if self.hidden_layer_sizes:
            return evaluate(
                lambda rows: torch.sigmoid(self.network_(rows)[:, 0]), X.astype(np.float32)
            )
        return np.asarray(expit(X @ self.coefficients_[:-1] + self.coefficients_[-1]))

    def _trained(self, X: Floats, y: Labels) -> torch.nn.Module:
        generator = torch_generator(self._seed(), "unconstrained")
        sizes = (X.shape[1], *self.hidden_layer_sizes, 1)
        network = build_mlp(sizes, self.activation, generator=generator)
        optimiser = torch.optim.Adam(
            network.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay
        )
        rows = torch.from_numpy(X.astype(np.float32))
        labels = torch.from_numpy(y.astype(np.float32))
        for _ in range(self.n_epochs):
            for batch in shuffled_batches(len(y), self.batch_size, generator=generator):
                optimiser.zero_grad()
                logits = network(rows[batch])[:, 0]
                loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels[batch])
                loss.backward()
                optimiser.step()
        return network
