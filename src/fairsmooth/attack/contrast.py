r"""The gap of two linear models as a function on the unit sphere.

An input ``x`` is the ray of ``(x, 1)``; let ``u`` be its unit vector and ``c`` its last
entry. The smooth score of a linear model with weights and bias ``W`` is

.. math:: N(W)(x) = \sum_j p_j\,\Phi\bigl(W\cdot u / t_j\bigr),\qquad t_j^2 = \sigma^2 + v_j^2c^2,

one term with ``v = 1`` for the probit link, ``v = 0`` for the step, and the mixture of
:func:`~fairsmooth.core.smoothing.mixtures.logistic_mixture` for the logistic. Nothing is
special about ``c = 0``, where ``x`` is infinite, and ``-u`` only changes the sign of a
difference of two scores. So the supremum over all inputs is a maximum over a sphere.

Three dimensions are enough: with ``c`` fixed, the two logits of the other entries fill an
ellipse, the difference rises in one logit and falls in the other, so its maximum lies on
the ellipse's rim; and the rim is what a circle in any plane through both weight vectors
maps to. (If the weights are parallel the ellipse is a segment, and the circle covers it.)
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from fairsmooth._types import Floats
from fairsmooth.core.smoothing.mixtures import N_NODES, logistic_mixture


@dataclass(frozen=True, eq=False)
class Cells:
    """Rectangles of latitude and longitude: centres and half-widths, each of shape (n,)."""

    latitude: Floats
    longitude: Floats
    half_latitude: Floats
    half_longitude: Floats

    def __len__(self) -> int:
        return len(self.latitude)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> "Cells":
        """Return some of the cells."""
        return Cells(*(part[rows] for part in self._parts()))

    def join(self, other: "Cells") -> "Cells":
        """Return these cells and the others."""
        pairs = zip(self._parts(), other._parts(), strict=True)
        return Cells(*(np.concatenate(pair) for pair in pairs))

    def halves(self, across_latitude: NDArray[np.bool_]) -> "Cells":
        """Cut every cell in two, across latitude or across longitude."""
        latitude = np.where(across_latitude, 0.5, 0.0) * self.half_latitude
        longitude = np.where(across_latitude, 0.0, 0.5) * self.half_longitude
        sizes = (self.half_latitude - latitude, self.half_longitude - longitude)
        lower = Cells(self.latitude - latitude, self.longitude - longitude, *sizes)
        return lower.join(Cells(self.latitude + latitude, self.longitude + longitude, *sizes))

    def _parts(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.latitude, self.longitude, self.half_latitude, self.half_longitude


@dataclass(frozen=True, eq=False)
class Contrast:
    """The difference of two smooth linear scores, signed, on the sphere of inputs.

    The pole is the mean of the two parameter vectors, so that the mean logit depends on
    the latitude alone: scores turn within a narrow belt around the equator.

    Attributes
    ----------
    frame : ndarray of shape (k, 3)
        Columns are pole, longitude 0 and longitude 90 degrees in the ``k`` coordinates
        of inputs and bias; with one feature the last is 0.
    mean, difference, bias : ndarray of shape (3,)
        Mean of the two parameter vectors, overall minus own, and the direction of the
        bias, in the frame; so the mean has its first entry only.
    sigma : float
    widths, shares : ndarray of shape (J,)
        ``v`` and ``p`` above.
    """

    frame: Floats
    mean: Floats
    difference: Floats
    bias: Floats
    sigma: float
    widths: Floats
    shares: Floats

    @classmethod
    def of(cls, overall: Floats, own: Floats, *, sigma: float, link: str) -> "Contrast":
        """Make the contrast of two linear models with one or two features, bias last."""
        mean, difference = (overall + own) / 2.0, overall - own
        columns = np.column_stack([mean, difference, np.eye(len(overall))])
        frame = np.zeros((len(overall), 3))
        # Householder's Q is orthonormal whatever the columns: dependent, zero or repeated.
        frame[:, : len(overall)] = np.linalg.qr(columns)[0]
        return cls(
            frame=frame,
            mean=np.array([mean @ frame[:, 0], 0.0, 0.0]),
            difference=difference @ frame,
            bias=frame[-1],
            sigma=sigma,
            **_mixture(link),
        )

    @property
    def middle(self) -> float:
        """Length of the mean parameters: only the size of a mean logit matters, not its sign."""
        return abs(float(self.mean[0]))

    def cells(self, n_latitudes: int, n_longitudes: int) -> Cells:
        """Cover the sphere; of one feature only longitudes 0 and 180 degrees exist."""
        if len(self.frame) == 2:
            longitudes, half_longitude = np.array([0.0, math.pi]), 0.0
        else:
            half_longitude = math.pi / n_longitudes
            longitudes = half_longitude * (2.0 * np.arange(n_longitudes) + 1.0)
        half_latitude = math.pi / 2.0 / n_latitudes
        latitudes = half_latitude * (2.0 * np.arange(n_latitudes) + 1.0) - math.pi / 2.0
        latitude, longitude = (axis.ravel() for axis in np.meshgrid(latitudes, longitudes))
        same = np.ones_like(latitude)
        return Cells(latitude, longitude, half_latitude * same, half_longitude * same)

    def values(self, latitude: Floats, longitude: Floats) -> Floats:
        """Return the difference of the scores at points, shape (n,)."""
        return self._values(_point(latitude, longitude))

    def gaps(self, X: Floats) -> Floats:
        """Return the size of the difference at inputs, shape (n, k - 1)."""
        rays = np.column_stack([X, np.ones(len(X))])
        return np.abs(self._values((rays @ self.frame).T / np.linalg.norm(rays, axis=1)))

    def ray(self, latitude: float, longitude: float) -> Floats:
        """Return a point of the sphere in the coordinates of inputs and bias, shape (k,)."""
        return self.frame @ _point(np.array([latitude]), np.array([longitude]))[:, 0]

    def _values(self, point: Floats) -> Floats:
        scale = np.hypot(self.sigma, np.multiply.outer(self.bias @ point, self.widths))
        middle = (self.middle * point[0])[:, None] / scale
        half = (self.difference @ point)[:, None] / scale / 2.0
        return _between(middle, half) @ self.shares

    def bounds(self, cells: Cells) -> Floats:
        r"""Return upper bounds on the difference over whole cells, shape (n,).

        The lesser of two bounds, term by term. :math:`\Phi(m + h) - \Phi(m - h)` falls in
        :math:`|m|` and rises in ``h``: the mean logit nearest to 0, and the largest
        difference. Where the difference is long and parallel to the mean, the largest
        logit of one model and the least of the other are sharper.
        """
        scales = self._scales(cells)
        half = np.maximum(self._logit_up(self.difference, cells, scales), 0.0) / 2.0
        middle = np.maximum(self._belt(cells)[:, None] / scales[1], 0.0)
        for sign in (1.0, -1.0):
            middle = np.maximum(middle, -self._logit_up(sign * self.mean, cells, scales))
        overall, own = self.mean + self.difference / 2.0, self.mean - self.difference / 2.0
        above = ndtr(self._logit_up(overall, cells, scales))
        apart = above - ndtr(-self._logit_up(-own, cells, scales))
        return np.maximum(np.minimum(_between(middle, half), apart), 0.0) @ self.shares

    def _scales(self, cells: Cells) -> tuple[Floats, Floats]:
        """Return the least and the largest scale over cells, each of shape (n, J)."""
        at, spread = self._linear(self.bias, cells)
        ends = np.maximum(np.abs(at) - spread, 0.0), np.minimum(np.abs(at) + spread, 1.0)
        least, most = (np.hypot(self.sigma, np.multiply.outer(end, self.widths)) for end in ends)
        return least, most

    def _belt(self, cells: Cells) -> Floats:
        """Return the size of the mean logit, before scaling, nearest to 0 over cells."""
        south = np.sin(cells.latitude - cells.half_latitude)
        north = np.sin(cells.latitude + cells.half_latitude)
        return self.middle * np.maximum(np.maximum(south, -north), 0.0)

    def _logit_up(self, vector: Floats, cells: Cells, scales: tuple[Floats, Floats]) -> Floats:
        """Bound the logit of parameters over the scale, shape (n, J).

        Far out, the scale and the part of the logit that stems from the bias vanish
        together: their quotient is monotone in the bias entry, so its ends bound it.
        """
        whole = np.add(*self._linear(vector, cells))
        share = float(vector @ self.bias)
        rest = np.add(*self._linear(vector - share * self.bias, cells))
        at, spread = self._linear(self.bias, cells)
        end = (at + math.copysign(1.0, share) * spread)[:, None]
        from_bias = share * end / np.hypot(self.sigma, end * self.widths)
        return np.minimum(_largest(whole, *scales), from_bias + _largest(rest, *scales))

    def across_latitude(self, cells: Cells) -> NDArray[np.bool_]:
        """Tell which cells are better cut across latitude: it blurs their bound more."""
        width = math.sqrt(float(self.shares @ self.widths**2))
        at, tilt_south, tilt_east = self._strays(self.bias, cells)
        scale = np.hypot(self.sigma, width * at)
        centre, south, east = self._strays(self.difference, cells)
        top = np.maximum(centre + south + east, 1e-300)
        latitude = south / top + (self.middle * cells.half_latitude + width * tilt_south) / scale
        return latitude >= east / top + width * tilt_east / scale

    def _linear(self, vector: Floats, cells: Cells) -> tuple[Floats, Floats]:
        """Return a linear function at the centres, and how far it strays from that."""
        centre, south, east = self._strays(vector, cells)
        return centre, south + east

    @staticmethod
    def _strays(vector: Floats, cells: Cells) -> tuple[Floats, Floats, Floats]:
        """Return a linear function at the centres, and how far latitude and longitude move it.

        Taylor's formula with bounds on the second derivatives over the cell; the mixed
        one is shared between the two.
        """
        a, b = cells.half_latitude, cells.half_longitude
        sine, cosine = np.sin(cells.latitude), np.cos(cells.latitude)
        x, y = np.cos(cells.longitude), np.sin(cells.longitude)
        pole, first, second = vector
        along, across = first * x + second * y, second * x - first * y
        whole, equatorial = np.linalg.norm(vector), math.hypot(first, second)
        south = np.abs(pole * cosine - sine * along) * a + (whole * a + equatorial * b) * a / 2.0
        widest = equatorial * np.minimum(cosine + a, 1.0)
        east = np.abs(cosine * across) * b + (widest * b + equatorial * a) * b / 2.0
        return pole * sine + cosine * along, south, east


def _point(latitude: Floats, longitude: Floats) -> Floats:
    """Return unit vectors in the frame, shape (3, n)."""
    cosine = np.cos(latitude)
    return np.stack([np.sin(latitude), cosine * np.cos(longitude), cosine * np.sin(longitude)])


def _largest(numerator: Floats, least: Floats, most: Floats) -> Floats:
    """Return the largest quotient by scales between ``least`` and ``most``."""
    return numerator[:, None] / np.where(numerator[:, None] > 0.0, least, most)


def _between(middle: Floats, half: Floats) -> Floats:
    """Return the normal probability of ``middle - half`` to ``middle + half``."""
    below = -np.abs(middle)  # on this side of 0 the tails keep their digits
    return ndtr(below + half) - ndtr(below - half)


def _mixture(link: str) -> dict[str, Floats]:
    if link == "logistic":
        widths, shares = logistic_mixture(N_NODES)
        return {"widths": widths, "shares": shares}
    return {"widths": np.array([1.0 if link == "probit" else 0.0]), "shares": np.ones(1)}
