r"""Scores of deep networks for given hidden noise: rows and draws in tiles, arrays used again.

The same numbers as :func:`fairsmooth.core.smoothing.layerwise.scores_given_noise`, which carries
gradients, up to rounding and the logistic's mixture. What a tile needs stays in the cache, every
step but the matrix products works in place, and no memory is asked for twice.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing.linear import input_scale, smooth_link
from fairsmooth.core.smoothing.mixtures import COARSE, rule_from

_IN_PLACE: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,
    "tanh": torch.tanh_,
    "silu": partial(nn.functional.silu, inplace=True),
}
# Elements (draw, row, unit) of a tile, and its rows. Measured: smaller ones spend time on calls.
_TILE, _ROWS = 1 << 19, 512


class DeepScores:
    r"""What rows have in common over all draws, and buffers for a tile of them.

    Parameters
    ----------
    network : Network
        With at least one hidden layer.
    parameters : Tensor of shape (m,)
    X : Tensor of shape (n, d)
    sigma : float
    link : {"logistic", "probit", "step"}

    Notes
    -----
    The last layer's logit has a standard deviation of at least ``sigma``. So one mixture, that of
    ``sigma``, serves every draw of every row, proven within 1e-6: to sort draws by the mixture
    that would just do takes longer.
    """

    def __init__(
        self, network: Network, parameters: Tensor, X: Tensor, *, sigma: float, link: str
    ) -> None:
        (weight, bias), *self._inner = network.layers(parameters)
        self._mean = torch.addmm(bias, X, weight.mT)
        self._scale = input_scale(X, sigma).unsqueeze(-1)
        self._activate = _IN_PLACE[network.activation]
        self._sizes = list(network.hidden_layer_sizes)
        self._sigma, self._link, self._rules = sigma, link, (rule_from(COARSE, sigma),)
        self._n_rows = max(1, min(len(X), _ROWS, _TILE // max(self._sizes)))
        self._n_draws = max(1, _TILE // (self._n_rows * max(self._sizes)))
        points = self._n_rows * self._n_draws
        self._buffers = [X.new_empty(points * size) for size in self._sizes]

    def __call__(self, noise: Tensor) -> Tensor:
        """Return scores (draws, n) for noise (draws, hidden units), which all rows share."""
        scores = self._mean.new_empty(len(noise), len(self._mean))
        for start in range(0, len(self._mean), self._n_rows):
            rows = slice(start, start + self._n_rows)
            for first in range(0, len(noise), self._n_draws):
                draws = slice(first, first + self._n_draws)
                scores[draws, rows] = self._tile(rows, noise[draws])
        return scores

    def _tile(self, rows: slice, noise: Tensor) -> Tensor:
        part, *others = noise.unsqueeze(1).split(self._sizes, dim=-1)
        mean, scale = self._mean[rows], self._scale[rows]
        shape = len(noise), len(mean)
        signal = torch.addcmul(mean, scale, part, out=self._buffer(0, shape))
        for number, part in enumerate(others, start=1):
            signal, scale = self._activate(signal), input_scale(signal, self._sigma)
            signal = self._product(number, signal).addcmul_(scale.unsqueeze(-1), part)
        signal, scale = self._activate(signal), input_scale(signal, self._sigma)
        weight, bias = self._inner[-1]
        logit = torch.matmul(signal, weight.squeeze(0)).add_(bias)
        return smooth_link(logit, scale, self._link, rules=self._rules)

    def _product(self, number: int, signal: Tensor) -> Tensor:
        weight, bias = self._inner[number - 1]
        out = self._buffer(number, signal.shape[:-1])
        torch.addmm(bias, signal.flatten(0, 1), weight.mT, out=out.flatten(0, 1))
        return out

    def _buffer(self, number: int, shape: tuple[int, ...]) -> Tensor:
        size = self._sizes[number]
        return self._buffers[number][: shape[0] * shape[1] * size].view(*shape, size)
