r"""One fixed map of scores, the same for everybody and for every group's own classifier.

.. math:: m(p) = \Phi(a\,\Phi^{-1}(p) + b), \qquad a > 0.

It keeps the order of scores. By Neyman and Pearson two smooth scores whose parameters are ``r``
apart have quantiles :math:`\Phi^{-1}` at most :math:`r/\sigma` apart, so that after the map
they are at most :math:`a r/\sigma` apart: every bound of the certificate holds for the mapped
scores with :math:`\sigma/a` in the place of :math:`\sigma`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairsmooth import _validate
from fairsmooth._types import Floats
from fairsmooth.exceptions import InputError

# Far more than the error of the two special functions on any argument, in units of the quantile
# and relative to a probability.
_QUANTILE_ERROR, _TAIL_ERROR = 4e-15, 1e-11


@dataclass(frozen=True)
class Calibration:
    """The map with slope ``a`` and offset ``b``.

    Examples
    --------
    >>> Calibration(slope=2.0, offset=0.5).apply(np.array([0.0, 0.3, 1.0]))
    array([0.        , 0.291..., 1.        ])
    """

    slope: float
    offset: float

    def __post_init__(self) -> None:
        _validate.positive(slope=self.slope)
        if not (math.isfinite(self.slope) and math.isfinite(self.offset)):
            raise InputError(
                f"Expected a finite slope and offset, got {self.slope} and {self.offset}."
            )

    def apply(self, scores: Floats) -> Floats:
        """Return mapped scores; 0 and 1 stay where they are."""
        from scipy.special import ndtr, ndtri

        return np.asarray(ndtr(self.slope * ndtri(scores) + self.offset))

    @property
    def half(self) -> float:
        r"""Where a score of ½ goes, :math:`\Phi(b)`: the threshold that keeps decisions at ½."""
        return float(self.apply(np.array([0.5]))[0])

    def outward(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return at most the mapped ``low``, and at least the mapped ``high``."""
        from scipy.special import ndtr

        below, above = self._moved(low, -1.0), self._moved(high, 1.0)
        lowest = ndtr(below) * (1.0 - _TAIL_ERROR)
        highest = np.nextafter(1.0 - ndtr(-above) * (1.0 - _TAIL_ERROR), np.inf)
        return np.where(low <= 0.0, 0.0, lowest), np.where(high >= 1.0, 1.0, np.minimum(highest, 1))

    def _moved(self, scores: Floats, sign: float) -> Floats:
        from scipy.special import ndtri

        with np.errstate(invalid="ignore"):
            quantile = self.slope * ndtri(scores)
            size = np.abs(quantile) + abs(self.offset) + self.slope + 1.0
            moved = quantile + self.offset + sign * _QUANTILE_ERROR * size
        # At 0 and 1 the quantile is infinite, and stays so.
        return np.where(np.isfinite(quantile), moved, quantile)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"slope": self.slope, "offset": self.offset}
