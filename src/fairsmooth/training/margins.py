r"""Loss of a linear model's margin, with its slope and bend, in one pass and without autograd.

A row's margin is its logit, negated where the label is 0; its loss is :math:`-\log N` of the
margin, where the perturbed logit has the variance :math:`\sigma^2(\lVert x\rVert^2 + 1)`.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.special import log_ndtr

from fairsmooth._types import Floats
from fairsmooth.core.smoothing.linear import normal_cdf
from fairsmooth.core.smoothing.mixtures import logistic_mixture

# Enough normals for the loss: the mixture of 8 is itself a link within 3e-8 of
# the logistic, and the loss and its gradient agree to rounding.
TRAINING_NODES = 8
_ROOT_2PI = math.sqrt(2.0 * math.pi)
_FEW = 256
_PIECE = 2**16


@dataclass(frozen=True, eq=False)
class Spreads:
    """Inverse standard deviations of the link's normals, given the noise of each row's logit.

    Rows of indicators have few different lengths: then ``places`` names each row's among
    the columns of ``inverse`` (nodes, lengths); None if all rows have the same. Otherwise
    ``variances`` holds every row's own, and ``inverse`` is made of it piece by piece.
    """

    widths: Floats
    shares: Floats
    inverse: Tensor | None
    places: NDArray[np.uint8] | None
    variances: Floats | None

    @classmethod
    def of(cls, squared_norms: Floats, *, sigma: float, link: str) -> "Spreads":
        """Compute once what no iteration changes."""
        widths, shares = np.ones(1), np.ones(1)
        if link == "logistic":
            widths, shares = logistic_mixture(TRAINING_NODES)
        variances = sigma * sigma * (squared_norms + 1.0)
        few = _few_values(variances)
        if few is None:
            return cls(widths, shares, None, None, variances)
        values, places = few
        inverse = 1.0 / np.sqrt(values + widths[:, None] ** 2)
        return cls(widths, shares, torch.from_numpy(inverse), places, None)

    def piece(self, start: int, stop: int) -> Tensor:
        """Return (nodes, rows) or (nodes, 1)."""
        if self.inverse is None:
            assert self.variances is not None
            variances = torch.from_numpy(self.variances[start:stop])
            return (variances + torch.from_numpy(self.widths[:, None] ** 2)).rsqrt_()
        if self.places is None:
            return self.inverse
        return self.inverse.index_select(1, torch.from_numpy(self.places[start:stop]).int())


def _few_values(values: Floats) -> tuple[Floats, NDArray[np.uint8] | None] | None:
    """Return the different values and the place of each, or None where they are many."""
    unique = values[:0]
    pieces = [slice(start, start + _PIECE) for start in range(0, len(values), _PIECE)]
    for piece in pieces:  # a sort of all values at once would take three times their memory
        unique = np.union1d(unique, values[piece])
        if len(unique) > _FEW:
            return None
    if len(unique) == 1:
        return unique, None
    places = np.empty(len(values), dtype=np.uint8)
    for piece in pieces:
        places[piece] = np.searchsorted(unique, values[piece])
    return unique, places


@dataclass(frozen=True, eq=False)
class MarginLoss:
    """The loss of margins for one link and noise level, row by row."""

    link: str
    sigma: float
    spreads: Spreads

    @classmethod
    def of(cls, squared_norms: Floats, *, sigma: float, link: str) -> "MarginLoss":
        """Prepare for rows of these squared lengths."""
        return cls(link, sigma, Spreads.of(squared_norms, sigma=sigma, link=link))

    @property
    def _plain(self) -> bool:
        return self.sigma == 0.0 and self.link == "logistic"

    def loss_and_slope(self, margins: Tensor, start: int, stop: int) -> tuple[Tensor, Tensor]:
        """Return the losses of rows ``start`` to ``stop`` and their derivatives in the margin."""
        if self._plain:
            return torch.nn.functional.softplus(-margins), -torch.sigmoid(-margins)
        inverse = self.spreads.piece(start, stop)
        if self.link == "probit":
            z = margins * inverse[0]
            log_score = log_ndtr(z)
            hazard = (z.square().mul_(-0.5) - log_score).exp_()
            return -log_score, hazard.mul_(inverse[0]).mul_(-1.0 / _ROOT_2PI)
        score, slope = self._mixture(margins, inverse)
        tiny = torch.finfo(score.dtype).tiny
        slope = torch.where(score > tiny, slope, 0.0)
        score = score.clamp_min_(tiny)
        return -score.log(), slope.div_(score).neg_()

    def score_and_slope(self, logits: Tensor, start: int, stop: int) -> tuple[Tensor, Tensor]:
        """Return the smooth scores of rows and their derivatives in the logit."""
        if self._plain:
            score = torch.sigmoid(logits)
            return score, score * (1.0 - score)
        inverse = self.spreads.piece(start, stop)
        if self.link == "probit":
            z = logits * inverse[0]
            return normal_cdf(z), (-0.5 * z.square()).exp() * inverse[0] / _ROOT_2PI
        return self._mixture(logits, inverse)

    def bend(self, margins: Tensor, start: int, stop: int) -> Tensor:
        """Return second derivatives of the losses in the margin; they are not negative."""
        if self._plain:
            score = torch.sigmoid(margins)
            return score * (1.0 - score)
        inverse, shares = self.spreads.piece(start, stop), torch.from_numpy(self.spreads.shares)
        z = margins * inverse
        _, slope = self.loss_and_slope(margins, start, stop)
        density = (-0.5 * z.square()).exp() * inverse / _ROOT_2PI
        score = (shares @ normal_cdf(z)).clamp_min(torch.finfo(z.dtype).tiny)
        return (slope.square() + (shares @ (density * z * inverse)) / score).clamp_min(0.0)

    def _mixture(self, mean: Tensor, inverse: Tensor) -> tuple[Tensor, Tensor]:
        """Return a mixture of normal distribution functions and its slope."""
        shares = torch.from_numpy(self.spreads.shares)
        z = mean * inverse
        score = (0.5 * shares) @ torch.special.erfc(z * -math.sqrt(0.5))
        density = z.square_().mul_(-0.5).exp_()
        if inverse.shape[1] == 1:
            return score, (shares / _ROOT_2PI * inverse[:, 0]) @ density
        return score, (shares / _ROOT_2PI) @ density.mul_(inverse)
