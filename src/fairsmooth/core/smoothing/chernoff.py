"""Bounds on a hidden layer's law that decide how it is integrated, and Chernoff's parameter."""

from dataclasses import dataclass

import torch
from torch import Tensor

from fairsmooth.core.smoothing.inversion import last_end, rest_bound

# Largest theta·sigma·s: exponential moments are infinite from 1 on.
_NEAR_DIVERGENCE = 0.9


@dataclass(frozen=True)
class Bounds:
    """Upper bounds on exponential moments for a few parameters, and how far to integrate.

    Parameters
    ----------
    theta : Tensor of shape (N, R)
        Parameters; any is valid, and the best of a row's is taken.
    log_moment_up, log_moment_down : Tensor of shape (N, R)
        Bounds on the logarithm of the exponential moment at ``theta`` and at ``-theta``.
    reach : Tensor of shape (R,)
        Where the integral may end.
    rest : Tensor of shape (R,)
        Bound on what lies beyond; perhaps too large where ``reach`` is only a guess.
    """

    theta: Tensor
    log_moment_up: Tensor
    log_moment_down: Tensor
    reach: Tensor
    rest: Tensor


def heavy_theta(scale: Tensor, sigma: float, variance: Tensor, tail: float) -> Tensor:
    r"""Choose Chernoff's parameter for a logit of this variance whose units are not bounded.

    Exponential moments are like :math:`(1 - x^2)^{-k}`, :math:`x = \theta\sigma s`, with
    :math:`k = \tau^2/2(\sigma s)^2`; then :math:`(\Lambda - k\log(1 - x^2))/x` is least where
    :math:`w = x^2/(1 - x^2)` solves :math:`2w - \log(1 + w) = q = \Lambda/k`. Near enough is
    :math:`w = q(1 + q)/(1 + 2q)`, that is :math:`x^2 = (1 + q)/(3 + q + 1/q)`: at most 0.4 % more.
    """
    width = sigma * scale
    q = width.square() / variance * (2.0 * tail)
    square = (q + 1.0) / (q.reciprocal() + q + 3.0)
    return square.sqrt().clamp_max(_NEAR_DIVERGENCE) / width


def rising_ends(guess: Tensor, sigma: float, link: str, truncation: float, *, count: int) -> Tensor:
    """Return rising ends of the integral to try; the last is enough by the link alone, if any."""
    end = last_end(sigma, link)
    ends = torch.linspace(0.02 * end, end, 50).to(guess)
    enough = rest_bound(torch.zeros_like(ends), ends, sigma, link) < 0.5 * truncation
    last = ends[int(enough.to(torch.uint8).argmax())] if bool(enough[-1]) else ends[-1]
    low = torch.minimum(0.6 * guess.min(), 0.5 * last)
    high = torch.minimum(2.0 * guess.max(), 0.95 * last).maximum(low)
    return torch.cat([geometric(low, high, count), last.reshape(1)])


def geometric(low: Tensor, high: Tensor, count: int) -> Tensor:
    """Return numbers from ``low`` to ``high`` with equal ratios."""
    shares = torch.linspace(0.0, 1.0, count).to(low)
    return low * (high / low).pow(shares)


def first_enough(
    envelope: Tensor, ends: Tensor, sigma: float, link: str, truncation: float
) -> tuple[Tensor, Tensor]:
    """Return the first end that is enough, or the last one, and what lies beyond it.

    ``envelope`` has the shape (B, R), and ``ends`` that or (B, 1).
    """
    rest = rest_bound(envelope, ends, sigma, link)
    first = (rest < 0.5 * truncation).to(torch.uint8).argmax(0)
    first = torch.where(rest[-1] < 0.5 * truncation, first, len(ends) - 1).unsqueeze(0)
    return ends.expand_as(rest).gather(0, first).squeeze(0), rest.gather(0, first).squeeze(0)
