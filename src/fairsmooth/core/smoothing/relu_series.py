r"""ReLU units for many rows of similar scale: everything as series in the mean over the scale.

With :math:`r = \mu_j/s`, :math:`\theta = st` and :math:`h = (r + \varepsilon)_+`, the factor of
unit ``j`` is :math:`\varphi_j = E\exp(i\theta v_jh - \sigma^2\theta^2h^2/2)`. At nodes
:math:`\theta` common to the rows it depends on the row by ``r`` alone, and is at most 1. So a
series in ``r`` serves all rows, as a matrix product; the closed form is needed at the Chebyshev
points only. Chernoff's moments and the envelope are series as well, to which what they may miss is
added. Nothing here carries a gradient.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from fairsmooth.core.smoothing.chernoff import Bounds, first_enough, geometric, rising_ends
from fairsmooth.core.smoothing.faddeeva import complex_product, fine_scaled_erfc
from fairsmooth.core.smoothing.linear import normal_cdf
from fairsmooth.core.smoothing.relu import ReluUnits
from fairsmooth.core.smoothing.series import ELLIPSES, Spans, fitted_spans, rounding_error

# Error of one unit's factor by its series, and by the closed form, with what counts as off.
_PRECISION, _CLOSED_FORM = 1e-11, 5e-12
_MOST_TERMS = 64
# Ratios below are taken for this: a unit is then on with probability 3e-13.
_SURELY_OFF = -7.2
# Ratios beyond which a series would need too many terms.
MOST_RATIO = 8.0
# Values of Chernoff's parameter and of the range that are tried, for all rows at once.
_N_THETAS, _N_REACHES = 4, 6
# Largest theta·sigma: exponential moments are infinite from 1 on.
_NEAR_DIVERGENCE = 0.9
# Rows from which parameters are guessed.
_SAMPLE = 32
# Rows, and elements (unit, node or term, row), worked on at once.
_ROWS, _ELEMENTS = 256, 1 << 18


@dataclass(frozen=True)
class ReluSeries:
    """The random terms of ``J`` units for ``R`` rows, as in ``ReluUnits``, and their spans.

    Parameters
    ----------
    units : ReluUnits
        With one weight per unit.
    ratio : Tensor of shape (J, R)
        Mean over scale, where it matters.
    spans : Spans
        That hold ``ratio``.
    unit_error : float
        Bound on the error of one unit's factor.
    """

    units: ReluUnits
    ratio: Tensor
    spans: Spans
    unit_error: float

    @staticmethod
    def fitted(units: ReluUnits) -> "ReluSeries | None":
        """Return series for these rows, or None where they would need too many terms."""
        ratio = (units.mean / units.scale).clamp_min(_SURELY_OFF)
        spans = fitted_spans(ratio, _PRECISION, _MOST_TERMS)
        if spans is None:
            return None
        rounding = 2.0 * float(rounding_error(spans.largest_coefficients()))
        return ReluSeries(units, ratio, spans, _PRECISION + _CLOSED_FORM + rounding)

    @property
    def sigma(self) -> float:
        """Standard deviation of the output weights."""
        return self.units.sigma

    @property
    def mean(self) -> Tensor:
        """Mean pre-activations, shape (J, R)."""
        return self.units.mean

    @property
    def scale(self) -> Tensor:
        """Standard deviation of the pre-activations, shape (R,)."""
        return self.units.scale

    @property
    def weight(self) -> Tensor:
        """Mean output weights, shape (J, 1)."""
        return self.units.weight

    @property
    def activation(self) -> str:
        """Name of the activation."""
        return self.units.activation

    def take(self, rows: Tensor) -> "ReluSeries":
        """Return the same series for a choice of rows."""
        return replace(self, units=self.units.take(rows), ratio=self.ratio[:, rows])

    def bounds(self, link: str, tail: float, truncation: float) -> Bounds:
        """Return exponential moments at a few parameters, and a range proven to be enough."""
        scale = self.scale
        least, most = (float(end) for end in scale.aminmax())
        theta, guess = self._guesses(link, tail, truncation)
        # The logistic link bounds tails for parameters up to 1 only.
        own = (1.0 - 1e-9) * least if link == "logistic" else math.inf
        limit = min(_NEAR_DIVERGENCE / self.sigma, own)
        theta = theta.clamp_max(limit)
        tried = geometric(0.85 * theta.min(), theta.max(), _N_THETAS)
        ends = rising_ends(guess, self.sigma, link, truncation, count=_N_REACHES) * most
        up, down, envelope = self._log_bounds(tried, ends)
        reach, rest = first_enough(
            envelope, ends.unsqueeze(1) / scale, self.sigma, link, truncation
        )
        return Bounds(tried.unsqueeze(1) / scale, up, down, reach, rest)

    def _guesses(self, link: str, tail: float, truncation: float) -> tuple[Tensor, Tensor]:
        """Guess Chernoff's parameter, times the scale, and the range from some of the rows."""
        n_rows = self.ratio.shape[1]
        some = self.units.take(torch.arange(0, n_rows, max(1, n_rows // _SAMPLE)))
        variance = some.variance() + self.sigma**2
        theta = some.best_theta(variance, link, tail) * some.scale
        return theta, some.reach(variance, link, truncation)

    def _log_bounds(self, theta: Tensor, ends: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Bound sums over units of logarithms of moments at ``±theta``, and of envelopes."""
        both = torch.cat([theta, -theta])
        spans, weight = self.spans, self.weight.unsqueeze(1)
        points = spans.points()
        sizes = (self.sigma * both).square().unsqueeze(1)
        table = torch.cat(
            [
                _moments(points.unsqueeze(1), weight * both.unsqueeze(1), sizes),
                _envelopes(points.unsqueeze(1), (self.sigma * ends).square().unsqueeze(1)),
            ],
            1,
        )
        growth = self._growth(both, len(ends))
        coefficients = spans.coefficients(table)
        # Ratios taken for surely off change a moment by less than 1e-12 of the largest.
        slack = spans.errors(growth).mT + rounding_error(coefficients) + 1e-12 * table.amax(-1)
        factors = _Product(spans, coefficients, slack.unsqueeze(-1))
        totals = torch.cat([factors.log_sum(ratio) for ratio in self._blocks()], 1)
        n = len(theta)
        return totals[:n], totals[n : 2 * n], totals[2 * n :].clamp_max(0.0)

    def _growth(self, both: Tensor, n_envelopes: int) -> Tensor:
        r"""Bound the logarithms of all columns on the ellipses, shape (E, C, J).

        Where the imaginary part is ``b``, a moment is at most :math:`e^{b^2/2}` times its value
        at the real part. That falls first and rises then, so it is largest at one of the ends.
        """
        n_units, rows = len(self.ratio), []
        weight = self.weight.unsqueeze(1)
        for rho in ELLIPSES:
            reach = 0.5 * (rho + 1.0 / rho) * self.spans.half
            ends = torch.cat([self.spans.centre - reach, self.spans.centre + reach], 1)
            square = (self.sigma * both).square().unsqueeze(1)
            most = _moments(ends.unsqueeze(1), weight * both.unsqueeze(1), square).amax(-1).log()
            rows.append(torch.cat([most.mT, most.new_zeros((n_envelopes, n_units))]))
        return torch.stack(rows).nan_to_num(math.inf)

    def characteristic(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        r"""Return :math:`\prod_j\varphi_j` at ``theta`` (B,), real and imaginary part (B, R)."""
        table = self._table(theta)
        parts = [table.product(ratio) for ratio in self._blocks()]
        re, im = (torch.cat(column, 1) for column in zip(*parts, strict=True))
        return re, im

    def _table(self, theta: Tensor) -> "_Product":
        points = self.spans.points()
        ones = torch.ones_like(points[0])
        units = ReluUnits(points, ones, self.weight, self.sigma)
        table = torch.cat(units.factors(theta.unsqueeze(1), fine_scaled_erfc), 1)
        return _Product(self.spans, self.spans.coefficients(table))

    def _blocks(self) -> tuple[Tensor, ...]:
        return self.ratio.split(_ROWS, 1)


@dataclass(frozen=True)
class _Product:
    """Series (J, C, P) of every unit, to be multiplied over units, some of them at a time."""

    spans: Spans
    coefficients: Tensor
    slack: Tensor | None = None

    def _parts(self, ratio: Tensor) -> Iterator[Tensor]:
        """Yield values of the series for some units at a time, shape (units, C, R)."""
        size = max(1, _ELEMENTS // (ratio.shape[1] * max(self.coefficients.shape[1:])))
        for some in (slice(k, k + size) for k in range(0, len(ratio), size)):
            terms = self.spans.some(some).polynomials(ratio[some])
            columns = torch.bmm(self.coefficients[some], terms)
            yield columns if self.slack is None else columns.add_(self.slack[some])

    def product(self, ratio: Tensor) -> tuple[Tensor, Tensor]:
        """Return the product of complex series, whose real parts come first."""
        half = self.coefficients.shape[1] // 2
        pairs = [complex_product(part[:, :half], part[:, half:]) for part in self._parts(ratio)]
        re, im = (torch.stack(column) for column in zip(*pairs, strict=True))
        return complex_product(re, im)

    def log_sum(self, ratio: Tensor) -> Tensor:
        """Return the logarithm of the product of positive series."""
        products = [part.clamp_min_(1e-30).prod(0) for part in self._parts(ratio)]
        return torch.stack(products).clamp_min_(1e-300).log_().sum(0)


def _moments(ratio: Tensor, tilt: Tensor, square: Tensor) -> Tensor:
    r"""Return :math:`E e^{\lambda h + \kappa h^2/2}`, ``h`` a ReLU unit of scale 1.

    ``tilt`` is :math:`\lambda`, ``square`` is :math:`\kappa < 1`.
    """
    shrink = 1.0 - square
    shift = (ratio + tilt) / shrink.sqrt()
    exponent = (square * ratio.square() + 2.0 * tilt * ratio + tilt.square()) / (2.0 * shrink)
    near = normal_cdf(shift) * torch.exp(exponent)
    scaled = 0.5 * torch.special.erfcx(shift.clamp_max(0.0) * -math.sqrt(0.5))
    active = torch.where(shift < 0, scaled * torch.exp(-0.5 * ratio.square()), near)
    return normal_cdf(-ratio) + active / shrink.sqrt()


def _envelopes(ratio: Tensor, square: Tensor) -> Tensor:
    r"""Return :math:`E e^{-\kappa h^2/2}`."""
    shrink = 1.0 / (1.0 + square)
    kept = torch.exp(ratio.square() * (0.5 * (shrink - 1.0))) * shrink.sqrt()
    return normal_cdf(-ratio) + normal_cdf(ratio * shrink.sqrt()) * kept
