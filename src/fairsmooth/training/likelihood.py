r"""The smooth classifier as training sees it: scores and log-likelihoods under autograd.

Parameters are stacked ``(..., m)``, rows ``(..., n, d)``, labels and scores
``(..., n)``; the leading dimension is the group.
"""

import copy
import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.special import log_ndtr

from fairsmooth._random import torch_generator
from fairsmooth.core.architecture import Architecture, Network
from fairsmooth.core.objective import label_log_probability
from fairsmooth.core.smoothing import smooth_network
from fairsmooth.core.smoothing.layerwise import scores_given_noise
from fairsmooth.core.smoothing.linear import (
    apply_link,
    input_scale,
    normal_cdf,
)
from fairsmooth.core.smoothing.sampled import weight_pair_scores
from fairsmooth.training.spreads import logistic_normals

# Exact scores of a hidden layer have an absolute error below this.
_EXACT_ERROR = 1e-6


class Likelihood(ABC):
    """How likely labels are under the smooth classifier."""

    architecture: Architecture

    def prepare(self, X: Tensor) -> Any:
        """Compute once what does not change while the same rows are used again."""
        return X

    def at(self, places: Tensor, n_places: int) -> "Likelihood":
        """Return the same for some rows ``(K, n)`` of a batch, by their places among its rows."""
        del places, n_places  # they matter where each row has noise of its own
        return self

    @abstractmethod
    def scores(self, parameters: Tensor, rows: Any, seed: int) -> Tensor:
        """Return the smooth scores of prepared rows; ``seed`` fixes what is sampled."""

    def log_probability(self, parameters: Tensor, rows: Any, y: Tensor, seed: int) -> Tensor:
        """Return the log-probability of every row's label."""
        return label_log_probability(self.scores(parameters, rows, seed), y)


class LinearRows(NamedTuple):
    """Rows with the spread of their perturbed logit."""

    X: Tensor
    variance: Tensor
    inverse_spread: Tensor
    shares: Tensor


class LinearLikelihood(Likelihood):
    """Exact and closed. Links are symmetric, so ``P(y) = N(±logit)`` loses no digits."""

    def __init__(self, network: Network, *, sigma: float, link: str) -> None:
        self.architecture = self.network = network
        self.sigma = sigma
        self.link = link

    def prepare(self, X: Tensor) -> LinearRows:
        """Compute the spread of every row's perturbed logit, which no iteration changes."""
        variance = input_scale(X, self.sigma).square()
        if self.link == "probit":
            return LinearRows(X, variance, (1.0 + variance).rsqrt(), X.new_ones(1))
        return LinearRows(X, variance, *logistic_normals(variance))

    def scores(self, parameters: Tensor, rows: LinearRows, seed: int) -> Tensor:
        """Return exact scores."""
        return self._scores(self.network.logits(parameters, rows.X), rows)

    def log_probability(self, parameters: Tensor, rows: LinearRows, y: Tensor, seed: int) -> Tensor:
        """Return exact log-probabilities, accurate far into the tails."""
        margin = self.network.logits(parameters, rows.X) * (2.0 * y - 1.0)
        if self.link == "probit":
            return log_ndtr(margin * rows.inverse_spread)
        if self.sigma == 0.0:
            return nn.functional.logsigmoid(margin)
        # Reflected, as in training/margins.py: a mixture of normals falls off too fast.
        far = margin < -0.5 * rows.variance
        near = torch.where(far, -margin - rows.variance, margin)
        scores = self._scores(near, rows)
        logs = scores.clamp_min(torch.finfo(scores.dtype).tiny).log()
        return logs + torch.where(far, 0.5 * (margin - near), 0.0)

    def _scores(self, margin: Tensor, rows: LinearRows) -> Tensor:
        if self.link == "probit":
            return normal_cdf(margin * rows.inverse_spread)
        if self.sigma == 0.0:
            return torch.sigmoid(margin)
        value: Tensor = _MixtureOfNormals.apply(  # type: ignore[no-untyped-call]
            margin, rows.inverse_spread, rows.shares
        )
        return value


class _MixtureOfNormals(torch.autograd.Function):
    """Mixture of normal distribution functions, value and slope in one pass."""

    @staticmethod
    def forward(ctx: Any, mean: Tensor, inverse_spread: Tensor, shares: Tensor) -> Tensor:
        z = mean.unsqueeze(-1) * inverse_spread
        value = (normal_cdf(z) * shares).sum(-1)
        slope = (z.square_().mul_(-0.5).exp_() * inverse_spread * shares).sum(-1)
        ctx.save_for_backward(slope / math.sqrt(2.0 * math.pi))
        return value

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Tensor, None, None]:
        (slope,) = ctx.saved_tensors
        return gradients[0] * slope, None, None


class NetworkLikelihood(Likelihood):
    """One hidden layer, exactly."""

    def __init__(self, network: Network, *, sigma: float, link: str) -> None:
        self.architecture = self.network = network
        self.sigma = sigma
        self.link = link

    def scores(self, parameters: Tensor, rows: Tensor, seed: int) -> Tensor:
        """Return exact scores."""
        return smooth_network(self.network, parameters, rows, sigma=self.sigma, link=self.link)

    def log_probability(self, parameters: Tensor, rows: Tensor, y: Tensor, seed: int) -> Tensor:
        """Return log-probabilities down to the absolute error of the scores."""
        return label_log_probability(self.scores(parameters, rows, seed), y, error=_EXACT_ERROR)


class UnsmoothedLikelihood(Likelihood):
    """Any architecture at ``sigma = 0``: FairSmooth-D."""

    def __init__(self, architecture: Architecture, *, link: str) -> None:
        self.architecture = architecture
        self.link = link

    def scores(self, parameters: Tensor, rows: Tensor, seed: int) -> Tensor:
        """Return the base classifier's scores."""
        if parameters.ndim > 1 and not isinstance(self.architecture, Network):
            by_group = zip(parameters, rows, strict=True)
            return torch.stack([self.scores(w, x, seed) for w, x in by_group])
        return apply_link(self.architecture.logits(parameters, rows), self.link)

    def log_probability(self, parameters: Tensor, rows: Tensor, y: Tensor, seed: int) -> Tensor:
        """Return exact log-probabilities: of a score that rounds to 0 or 1 there is no slope."""
        if parameters.ndim > 1 and not isinstance(self.architecture, Network):
            by_group = zip(parameters, rows, y, strict=True)
            return torch.stack([self.log_probability(w, x, of, seed) for w, x, of in by_group])
        margin = self.architecture.logits(parameters, rows) * (2.0 * y - 1.0)
        return log_ndtr(margin) if self.link == "probit" else nn.functional.logsigmoid(margin)


class DrawnLikelihood(Likelihood):
    r"""Few draws, new ones every step: an estimate of the score, and of its log.

    The mean :math:`\hat p` of ``S`` draws is unbiased, its logarithm is not:
    :math:`E \log\hat p \approx \log p - v/2p^2` where ``v`` is the variance of
    :math:`\hat p`. The loss adds that back, which leaves a bias of order
    :math:`S^{-2}` in the loss and in its gradient.
    """

    @abstractmethod
    def draws(self, parameters: Tensor, rows: Tensor, seed: int) -> Tensor:
        """Return independent estimates of the scores, ``(draws, ..., n)``."""

    def scores(self, parameters: Tensor, rows: Tensor, seed: int) -> Tensor:
        """Return the mean of the draws."""
        return self.draws(parameters, rows, seed).mean(0)

    def log_probability(self, parameters: Tensor, rows: Tensor, y: Tensor, seed: int) -> Tensor:
        """Return the log of the mean of the draws, corrected to second order."""
        drawn = self.draws(parameters, rows, seed)
        chosen = torch.where(y > 0.5, drawn, 1.0 - drawn)
        mean = chosen.mean(0).clamp_min(torch.finfo(drawn.dtype).eps)
        variance = chosen.var(0) / len(drawn)
        # Capped: where the draws disagree wildly the expansion does not hold.
        return mean.log() + (0.5 * variance / mean.square()).clamp_max(0.5)


class LayerwiseLikelihood(DrawnLikelihood):
    """Networks: draw the hidden layers in antithetic pairs, integrate the last one out.

    Every row has noise of its own, so that the noise of a gradient averages out
    over the batch.
    """

    def __init__(self, network: Network, *, sigma: float, link: str, n_draws: int) -> None:
        self.architecture = self.network = network
        self.sigma = sigma
        self.link = link
        self.n_pairs = max(2, n_draws // 2)
        self.places: tuple[Tensor, int] | None = None

    def at(self, places: Tensor, n_places: int) -> "LayerwiseLikelihood":
        """Draw for the whole batch, and use the noise of these rows."""
        some = copy.copy(self)
        some.places = (places, n_places)
        return some

    def draws(self, parameters: Tensor, rows: Tensor, seed: int) -> Tensor:
        """Return the mean of each antithetic pair."""
        n_rows = rows.shape[-2] if self.places is None else self.places[1]
        shape = (*rows.shape[:-2], n_rows, sum(self.network.hidden_layer_sizes))
        place = rows.device
        generator = torch_generator(seed, device=place)
        half = torch.randn(
            (self.n_pairs, *shape), generator=generator, dtype=rows.dtype, device=place
        )
        if self.places is not None:
            half = half.take_along_dim(self.places[0][None, :, :, None], dim=2)
        noise = torch.cat([half, -half])
        scores = scores_given_noise(self.network, parameters, rows, noise, self.sigma, self.link)
        return 0.5 * (scores[: self.n_pairs] + scores[self.n_pairs :])


class SampledLikelihood(DrawnLikelihood):
    """Any module: draw weights in antithetic pairs, one group after another."""

    def __init__(
        self, architecture: Architecture, *, sigma: float, link: str, n_draws: int
    ) -> None:
        self.architecture = architecture
        self.sigma = sigma
        self.link = link
        self.n_pairs = max(2, n_draws // 2)

    def draws(self, parameters: Tensor, rows: Tensor, seed: int) -> Tensor:
        """Return the mean of each antithetic pair."""
        if parameters.ndim > 1:
            by_group = zip(parameters, rows, strict=True)
            return torch.stack([self.draws(w, x, seed) for w, x in by_group], dim=1)
        chunks = weight_pair_scores(
            self.architecture,
            parameters,
            rows,
            sigma=self.sigma,
            link=self.link,
            pairs=range(self.n_pairs),
            seed=seed,
        )
        return torch.cat(list(chunks))


# Few draws suffice for a gradient, since every step draws anew; noise in the hidden
# units is each row's own and averages out, noise in the weights is shared by all rows.
LAYERWISE_DRAWS = 4
WEIGHT_DRAWS = 8
# A solver that keeps its draws fits them: with 4 of 300 rows' it reported an objective of .60 where
# .78 was true, and .66 the least; with 64 it reported .65 and found .66.
KEPT_DRAWS = 64


def choose_likelihood(
    architecture: Architecture, *, sigma: float, link: str, smoothing: str, kept: bool = False
) -> Likelihood:
    """Return the cheapest sound way to smooth this architecture inside a loss.

    ``kept`` says that every step has the same draws, as those of L-BFGS must.
    """
    if isinstance(architecture, Network):
        depth = len(architecture.hidden_layer_sizes)
        if depth == 0:
            return LinearLikelihood(architecture, sigma=sigma, link=link)
        if sigma == 0.0:
            return UnsmoothedLikelihood(architecture, link=link)
        if depth == 1 and (smoothing == "exact" or (smoothing == "auto" and kept)):
            return NetworkLikelihood(architecture, sigma=sigma, link=link)
        if smoothing != "monte_carlo":
            n_draws = KEPT_DRAWS if kept else LAYERWISE_DRAWS
            return LayerwiseLikelihood(architecture, sigma=sigma, link=link, n_draws=n_draws)
    if sigma == 0.0:
        return UnsmoothedLikelihood(architecture, link=link)
    n_draws = KEPT_DRAWS if kept else WEIGHT_DRAWS
    return SampledLikelihood(architecture, sigma=sigma, link=link, n_draws=n_draws)
