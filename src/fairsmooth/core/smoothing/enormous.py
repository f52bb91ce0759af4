r"""Enormous rows, drawn in: beyond some size only a row's direction matters.

Multiplying a row and the constant 1 behind the biases by the same ``k`` multiplies mean and
scale of all pre-activations by ``k``. For huge rows that changes next to nothing: ReLU units
keep their signs and proportions, tanh units are ±1 before and after. So the work, and the
size of the numbers, stay bounded. The proof is in ``docs/smoothing.md``.
"""

import torch
from torch import Tensor

# What drawing rows in changes at most, for up to 1e30 units.
DRAWN_IN_ERROR = 5e-11
_FAR = 1e12


def limit_scale(out_bias: Tensor, sigma: float, n_units: int) -> Tensor:
    r"""Return the scale of pre-activations from which on rows may be drawn in.

    :math:`10^{12} J a`, with ``a`` at least 1 and at least :math:`\frac{2}{\sqrt{2\pi}\sigma}
    E|c + \sigma g_0 + \xi|`, the output bias with its noise and the link's.
    """
    width = (0.8 / sigma) * (out_bias.detach().abs() + (sigma + 1.82))
    return (_FAR * n_units) * width.clamp_min(1.0)


def draw_in(X: Tensor, sigma: float, limit: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows whose noise is at most ``limit``, and what the ones were multiplied by.

    ``X`` (..., n, d) and ``limit`` (..., 1) broadcast.
    """
    largest = X.detach().abs().amax(-1)
    unit = X / largest.clamp_min(1.0).unsqueeze(-1)
    room = limit / sigma / torch.linalg.vector_norm(unit.detach(), dim=-1).clamp_min(1e-300)
    factor = (room / largest.clamp_min(1.0)).clamp_max(1.0)
    return unit * torch.minimum(room, largest.clamp_min(1.0)).unsqueeze(-1), factor
