"""Sums over a unit's nodes, with derivatives that keep nothing for the backward pass.

Autograd would keep every table of sines and cosines, or recompute and then differentiate them
step by step. Here the backward pass computes a table once more and uses it at once.
"""

from typing import Any

import torch
from torch import Tensor


def table_sum(
    weight: Tensor, t: Tensor, values: Tensor, shares: Tensor, sigma: float
) -> tuple[Tensor, Tensor]:
    r"""Return :math:`\sum_q p_{jrq} e^{itv_jh_q - \sigma^2t^2h_q^2/2}`, real and imaginary.

    Parameters
    ----------
    weight : Tensor of shape (J, 1)
        :math:`v_j`.
    t : Tensor of shape (B, 1)
        Without gradient.
    values : Tensor of shape (Q,)
        :math:`h_q`, without gradient.
    shares : Tensor of shape (J, R, Q)
        :math:`p_{jrq}`.
    sigma : float

    Returns
    -------
    tuple of Tensor of shape (J, B, R)
    """
    result: tuple[Tensor, Tensor] = _TableSum.apply(weight, t, values, shares, sigma)  # type: ignore[no-untyped-call]
    return result


def node_sum(
    weight: Tensor, t: Tensor, values: Tensor, shares: Tensor, sigma: float
) -> tuple[Tensor, Tensor]:
    r"""Return :math:`\sum_q p_q e^{itv_jh_{qjr} - \sigma^2t^2h_{qjr}^2/2}`, real and imaginary.

    As :func:`table_sum`, but with ``values`` of shape (Q, J, R), and ``shares`` of shape (Q,)
    without gradient.
    """
    result: tuple[Tensor, Tensor] = _NodeSum.apply(weight, t, values, shares, sigma)  # type: ignore[no-untyped-call]
    return result


def wave(weight: Tensor, t: Tensor, value: Tensor, sigma: float) -> tuple[Tensor, Tensor]:
    r"""Return :math:`e^{itv_jh - \sigma^2t^2h^2/2}`, real and imaginary part, shape (J, B, ...)."""
    phase = (weight.unsqueeze(1) * t) * value
    size = torch.exp((t * value).square() * (-0.5 * sigma**2))
    return torch.cos(phase).mul_(size), phase.sin_().mul_(size)


class _TableSum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, weight: Tensor, t: Tensor, values: Tensor, shares: Tensor, sigma: float
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(weight, t, values, shares)
        ctx.sigma = sigma
        re, im = wave(weight, t, values, sigma)
        return torch.bmm(re, shares.mT), torch.bmm(im, shares.mT)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_re: Tensor, grad_im: Tensor) -> tuple[Tensor | None, ...]:
        weight, t, values, shares = ctx.saved_tensors
        re, im = wave(weight, t, values, ctx.sigma)
        to_shares = torch.bmm(grad_re.mT, re).baddbmm_(grad_im.mT, im)
        # Turning the phase turns (re, im) into (-im, re).
        turn = torch.bmm(grad_im, shares).mul_(re).sub_(torch.bmm(grad_re, shares).mul_(im))
        to_weight = ((turn @ values) @ t).reshape(weight.shape)
        return to_weight, None, None, to_shares, None


class _NodeSum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, weight: Tensor, t: Tensor, values: Tensor, shares: Tensor, sigma: float
    ) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(weight, t, values, shares)
        ctx.sigma = sigma
        re = values.new_zeros((len(weight), len(t), values.shape[2]))
        im = torch.zeros_like(re)
        for value, share in zip(values, shares.tolist(), strict=True):
            cos, sin = wave(weight, t, value.unsqueeze(1), sigma)
            re.add_(cos, alpha=share)
            im.add_(sin, alpha=share)
        return re, im

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_re: Tensor, grad_im: Tensor) -> tuple[Tensor | None, ...]:
        weight, t, values, shares = ctx.saved_tensors
        to_weight, to_values = torch.zeros_like(weight), torch.empty_like(values)
        row, squares = t.T, t.T.square() * -(ctx.sigma**2)
        for q, (value, share) in enumerate(zip(values, shares.tolist(), strict=True)):
            cos, sin = wave(weight, t, value.unsqueeze(1), ctx.sigma)
            along = grad_re * cos
            along.addcmul_(grad_im, sin)
            turn = cos.mul_(grad_im).addcmul_(sin, grad_re, value=-1.0)
            turned = (row @ turn).squeeze(1)
            damped = (squares @ along).squeeze(1)
            to_values[q] = share * (weight * turned + value * damped)
            to_weight += share * (turned * value).sum(1, keepdim=True)
        return to_weight, None, to_values, None, None
