r"""Loss of a linear model's margin, with its slope and bend, in one pass and without autograd.

A row's margin is its logit, negated where the label is 0; its loss is :math:`-\log N` of the
margin, where the perturbed logit has the variance :math:`\sigma^2(\lVert x\rVert^2 + 1)`.

A mixture of normals is near the smooth logistic, but falls off as normals do, where that falls off
as :math:`e^\mu`. What is exact is
:math:`N(\mu) = e^{\mu + s^2/2}\,N(-\mu - s^2)` for the variance :math:`s^2`: weigh the normal by
:math:`e^{\mu + sz}`. So a margin below :math:`-s^2/2`, where both sides meet, is reflected to one
above, where the mixture has all its digits.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.special import log_ndtr

from fairsmooth._types import Floats
from fairsmooth.core.smoothing.linear import normal_cdf
from fairsmooth.training.spreads import Spreads

_ROOT_2PI = math.sqrt(2.0 * math.pi)
_SMALL = 0.01

# What is computed of margins, for inverse standard deviations and shares of the normals.
_Work = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, ...]]


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
        if self.link == "probit":
            inverse = self.spreads.piece(start, stop)[0].inverse[0]
            z = margins * inverse
            log_score = log_ndtr(z)
            hazard = (z.square().mul_(-0.5) - log_score).exp_()
            return -log_score, hazard.mul_(inverse).mul_(-1.0 / _ROOT_2PI)
        near, far = self._reflected(margins, start, stop)
        score, slope = self._mixed(_mixture, near, start, stop)
        tiny = torch.finfo(score.dtype).tiny
        slope = torch.where(score > tiny, slope, 0.0)
        score = score.clamp_min_(tiny)
        loss, slope = -score.log(), slope.div_(score).neg_()
        if far is None:
            return loss, slope
        # Half the way to where it was reflected to is the exponent.
        loss += torch.where(far, 0.5 * (near - margins), 0.0)
        return loss, torch.where(far, -1.0 - slope, slope)

    def score_and_slope(self, logits: Tensor, start: int, stop: int) -> tuple[Tensor, Tensor]:
        """Return the smooth scores of rows and their derivatives in the logit."""
        if self._plain:
            score = torch.sigmoid(logits)
            return score, score * (1.0 - score)
        if self.link == "probit":
            inverse = self.spreads.piece(start, stop)[0].inverse[0]
            z = logits * inverse
            return normal_cdf(z), (-0.5 * z.square()).exp() * inverse / _ROOT_2PI
        score, slope = self._mixed(_mixture, logits, start, stop)
        return score, slope

    def bend(self, margins: Tensor, start: int, stop: int) -> Tensor:
        """Return second derivatives of the losses in the margin; they are not negative."""
        if self._plain:
            score = torch.sigmoid(margins)
            return score * (1.0 - score)
        if self.link == "logistic":  # the loss bends as it does where a margin is reflected to
            margins, _ = self._reflected(margins, start, stop)
        _, slope = self.loss_and_slope(margins, start, stop)
        (fall,) = self._mixed(_relative_fall, margins, start, stop)
        return (slope.square() + fall).clamp_min(0.0)

    def _reflected(self, margins: Tensor, start: int, stop: int) -> tuple[Tensor, Tensor | None]:
        """Return margins that are not far below 0, and which were; None if none was."""
        if float(margins.min()) >= -0.5 * self.spreads.least_noise:
            return margins, None
        noise = self.spreads.noise(start, stop)
        far = margins < -0.5 * noise
        return torch.where(far, -margins - noise, margins), far

    def _mixed(self, work: _Work, margins: Tensor, start: int, stop: int) -> tuple[Tensor, ...]:
        """Do some work on every row with the normals that it has."""
        parts = self.spreads.piece(start, stop)
        if parts[0].rows is None:
            return work(margins, parts[0].inverse, parts[0].shares)
        found = [work(margins[part.rows], part.inverse, part.shares) for part in parts]
        order = torch.cat([part.rows for part in parts if part.rows is not None])
        return tuple(
            torch.empty_like(margins).scatter_(0, order, torch.cat(of_rules))
            for of_rules in zip(*found, strict=True)
        )


def _mixture(mean: Tensor, inverse: Tensor, shares: Tensor) -> tuple[Tensor, Tensor]:
    """Return a mixture of normal distribution functions and its slope."""
    z = mean * inverse
    score = (0.5 * shares) @ torch.erf(z * math.sqrt(0.5)) + 0.5
    # The error function is much the faster one, and has no digits for small scores.
    small = torch.nonzero(score < _SMALL).squeeze(1)
    if len(small):
        score[small] = (0.5 * shares) @ torch.special.erfc(z[:, small] * -math.sqrt(0.5))
    density = z.square_().mul_(-0.5).exp_()
    if inverse.shape[1] == 1:
        return score, (shares / _ROOT_2PI * inverse[:, 0]) @ density
    return score, (shares / _ROOT_2PI) @ density.mul_(inverse)


def _relative_fall(mean: Tensor, inverse: Tensor, shares: Tensor) -> tuple[Tensor]:
    """Return the negative second derivative of the mixture, divided by the mixture."""
    z = mean * inverse
    density = (-0.5 * z.square()).exp() * inverse / _ROOT_2PI
    score = (shares @ normal_cdf(z)).clamp_min(torch.finfo(z.dtype).tiny)
    return ((shares @ (density * z * inverse)) / score,)
