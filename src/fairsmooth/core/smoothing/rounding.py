"""Intervals that still hold after rounding to a narrower type."""

import torch
from torch import Tensor

_OUTWARD = torch.tensor([-1.0, 1.0], dtype=torch.float64)


def widen(interval: Tensor, error: Tensor | float) -> Tensor:
    """Move both ends of intervals (n, 2) outward by ``error``, within [0, 1]."""
    return (interval + _OUTWARD.to(interval) * error).clamp(0.0, 1.0)


def round_outward(interval: Tensor, dtype: torch.dtype) -> Tensor:
    """Return intervals (n, 2) in ``dtype`` that contain the given float64 ones.

    Rounding to nearest may move an end inward; that end goes one number further.

    Examples
    --------
    >>> round_outward(torch.tensor([[0.1, 0.1]], dtype=torch.float64), torch.float32)
    tensor([[0.1000, 0.1000]])
    """
    if dtype == interval.dtype:
        return interval
    rounded = interval.to(dtype)
    ends = (_OUTWARD * torch.inf).to(interval.device, dtype)
    inward = (rounded.double() - interval) * _OUTWARD.to(interval) < 0
    return torch.where(inward, torch.nextafter(rounded, ends.expand_as(rounded)), rounded)


def round_error(score: Tensor, error: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return a float64 score in ``dtype``, and an error there that allows for the rounding."""
    if dtype == score.dtype:
        return score, error
    rounded = score.to(dtype)
    with torch.no_grad():
        total = error + (rounded.double() - score).abs()
        up = torch.nextafter(total.to(dtype), torch.full_like(rounded, torch.inf))
    return rounded, up
