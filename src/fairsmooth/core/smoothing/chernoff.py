"""Bounds on a hidden layer's law that decide how it is integrated, and Chernoff's parameter."""

from dataclasses import dataclass

import torch
from torch import Tensor

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
        Bound on what lies beyond; infinite where ``reach`` is only a guess.
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
    :math:`w = x^2/(1 - x^2)` solves :math:`2w - \log(1 + w) = \Lambda/k`, here by Newton's method.
    """
    width = sigma * scale
    wanted = 2.0 * tail * (width.square() / variance)
    w = wanted * (1.0 + wanted) / (1.0 + 2.0 * wanted)
    for _ in range(2):
        w = w - (2.0 * w - torch.log1p(w) - wanted) * (1.0 + w) / (1.0 + 2.0 * w)
    return (w / (1.0 + w)).sqrt().clamp_max(_NEAR_DIVERGENCE) / width
