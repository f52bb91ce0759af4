r"""Chebyshev series of functions of a Gaussian's mean, with proven errors.

:math:`f(r) = E\,F(r + \varepsilon)` is entire in ``r``, and for :math:`|F| \le M` at most
:math:`Me^{b^2/2}` where the imaginary part is ``b``. So on an interval of half length
:math:`\ell` the polynomial of degree ``n`` through the Chebyshev points errs by at most
:math:`4Me^{(\ell(\rho - 1/\rho)/2)^2/2}/\rho^n(\rho - 1)` for any :math:`\rho > 1`
(Trefethen 2013, Theorem 8.2). Nothing here carries a gradient.
"""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

ELLIPSES = (1.3, 1.5, 1.75, 2.0, 2.4, 2.9, 3.5, 4.5, 6.0, 8.0, 11.0, 16.0, 24.0, 40.0)
_ROUNDING = 2.0**-52


@dataclass(frozen=True)
class Spans:
    """One interval per unit, and a degree for all.

    Parameters
    ----------
    centre, half : Tensor of shape (J, 1)
        Of the intervals; halves are positive.
    degree : int
    """

    centre: Tensor
    half: Tensor
    degree: int

    def points(self) -> Tensor:
        """Return the Chebyshev points of every unit, shape (J, P)."""
        return self.centre + self.half * torch.cos(_angles(self.degree, self.half))

    def coefficients(self, values: Tensor) -> Tensor:
        """Return the series (J, C, P) of functions given by their values at the points.

        In terms of ``polynomials``, with their signs.
        """
        angles = _angles(self.degree, values)
        waves = torch.cos(angles.unsqueeze(1) * torch.arange(self.degree + 1).to(values))
        for end in (0, -1):
            waves[end] *= 0.5
            waves[:, end] *= 0.5
        signs = values.new_tensor([1.0 if p % 4 < 2 else -1.0 for p in range(self.degree + 1)])
        return values @ (waves * signs * (2.0 / self.degree))

    def polynomials(self, ratio: Tensor) -> Tensor:
        r"""Return :math:`T_p` at arguments (J, R) of the units, shape (J, P, R), up to sign.

        Signs follow +, +, -, -, which makes every step of the recurrence one operation.
        """
        block = ratio.new_empty((self.degree + 1, *ratio.shape))
        terms = block.unbind()
        twice = torch.sub(ratio, self.centre).mul_(2.0 / self.half)
        terms[0].fill_(1.0)
        torch.mul(twice, 0.5, out=terms[1])
        for p in range(2, self.degree + 1):
            value = -1.0 if p % 2 == 0 else 1.0
            torch.addcmul(terms[p - 2], twice, terms[p - 1], value=value, out=terms[p])
        return block.transpose(0, 1)

    def some(self, units: slice) -> "Spans":
        """Return the intervals of some of the units."""
        return replace(self, centre=self.centre[units], half=self.half[units])

    def errors(self, log_growth: Tensor) -> Tensor:
        r"""Bound what the series of this degree miss, shape (C, J).

        ``log_growth`` (E, C, J) bounds :math:`\log M` on each of ``ELLIPSES``.
        """
        half = self.half.squeeze(1)
        bounds = [
            log_error(half, rho, self.degree) + growth
            for rho, growth in zip(ELLIPSES, log_growth, strict=True)
        ]
        return torch.stack(bounds).amin(0).exp()

    def largest_coefficients(self) -> Tensor:
        r"""Bound the coefficients, shape (P,), of functions with ``M`` = 1.

        By 2 as means of values, and by :math:`8e^{b^2/2}\rho^{-p}`: four times those of the
        function, for all that aliases to them.
        """
        p = torch.arange(self.degree + 1).to(self.half)
        bounds = [torch.full_like(p, 2.0)]
        for rho in ELLIPSES:
            height = 0.5 * (rho - 1.0 / rho) * float(self.half.max())
            exponent = 0.5 * height**2 - p * math.log(rho)
            bounds.append(8.0 * torch.exp(exponent.clamp_max(100.0)))
        return torch.stack(bounds).amin(0)


def log_error(half: Tensor, rho: float, degree: int) -> Tensor:
    """Return the logarithm of the bound above for ``M`` = 1."""
    height = 0.5 * (rho - 1.0 / rho) * half
    return 0.5 * height.square() + math.log(4.0 / (rho - 1.0)) - degree * math.log(rho)


def fitted_spans(ratio: Tensor, precision: float, most: int) -> Spans | None:
    """Return intervals that hold all of ``ratio`` (J, R), or None if that takes too many terms."""
    low, high = ratio.aminmax(dim=1, keepdim=True)
    # A little longer, so that rounding keeps arguments within [-1, 1].
    half = 0.5 * (high - low) + 1e-6 * (1.0 + high.abs() + low.abs())
    degree = least_degree(half, precision)
    return Spans(0.5 * (low + high), half, degree) if degree <= most else None


def least_degree(half: Tensor, precision: float) -> int:
    """Return the degree from which on functions at most 1 are missed by less than ``precision``."""
    widest = half.max()
    needed = [
        (float(log_error(widest, rho, 0)) - math.log(precision)) / math.log(rho) for rho in ELLIPSES
    ]
    return max(2, math.ceil(min(needed)))


def rounding_error(coefficients: Tensor) -> Tensor:
    r"""Bound what rounding in the recurrence and the sums adds to series (..., P), to first order.

    Step ``k`` of the recurrence errs by at most 4 units, which a later :math:`T_p` multiplies by
    at most :math:`p - k + 1`: together :math:`2p(p + 1)`.
    """
    p = torch.arange(coefficients.shape[-1]).to(coefficients)
    return _ROUNDING * (coefficients.abs() @ (2.0 * p * (p + 1.0) + 2.0 * len(p) + 8.0))


def _angles(degree: int, like: Tensor) -> Tensor:
    return torch.arange(degree + 1).to(like) * (math.pi / degree)
