r"""The gap of two linear models as a function on the unit sphere.

An input ``x`` is the ray of ``(x, 1)``; let ``u`` be its unit vector and ``c`` its last
entry. The smooth score of a linear model with weights and bias ``W`` is

.. math:: N(W)(x) = \sum_j p_j\,\Phi\bigl(W\cdot u / t_j\bigr),\qquad t_j^2 = \sigma^2 + v_j^2c^2,

one term with ``v = 1`` for the probit link, ``v = 0`` for the step, and the mixture of
:func:`~fairsmooth.core.smoothing.linear.logistic_mixture` for the logistic. Nothing is
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

from fairsmooth.core.smoothing.linear import N_NODES, logistic_mixture

Floats = NDArray[np.float64]


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
    middle : float
        Length of the mean of the two parameter vectors.
    difference, bias : ndarray of shape (3,)
        Overall minus own parameters, and the direction of the bias, in the frame.
    sigma : float
    widths, shares : ndarray of shape (J,)
        ``v`` and ``p`` above.
    """

    frame: Floats
    middle: float
    difference: Floats
    bias: Floats
    sigma: float
    widths: Floats
    shares: Floats

    @classmethod
    def of(cls, overall: Floats, own: Floats, *, sigma: float, link: str) -> "Contrast":
        """Make the contrast of two linear models with one or two features, bias last."""
        middle, difference = (overall + own) / 2.0, overall - own
        columns = np.column_stack([middle, difference, np.eye(len(overall))])
        frame = np.zeros((len(overall), 3))
        # Householder's Q is orthonormal whatever the columns: dependent, zero or repeated.
        frame[:, : len(overall)] = np.linalg.qr(columns)[0]
        return cls(
            frame=frame,
            middle=float(np.linalg.norm(middle)),
            difference=difference @ frame,
            bias=frame[-1],
            sigma=sigma,
            **_mixture(link),
        )

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

        :math:`\Phi(m + h) - \Phi(m - h)` falls in :math:`|m|` and rises in ``h``: the least
        mean logit over the largest scale, and the largest difference over the least scale.
        """
        top, reach = self._linear(self.difference, cells)
        at, spread = self._linear(self.bias, cells)
        nearest = np.maximum(np.abs(at) - spread, 0.0)
        farthest = np.minimum(np.abs(at) + spread, 1.0)
        south = np.sin(cells.latitude - cells.half_latitude)
        north = np.sin(cells.latitude + cells.half_latitude)
        middle = self.middle * np.maximum(np.maximum(south, -north), 0.0)
        least, most = (
            np.hypot(self.sigma, np.multiply.outer(end, self.widths)) for end in (nearest, farthest)
        )
        half = np.maximum(top + reach, 0.0)[:, None] / least / 2.0
        return _between(middle[:, None] / most, half) @ self.shares

    def across_latitude(self, cells: Cells) -> NDArray[np.bool_]:
        """Tell which cells are better cut across latitude: it blurs their bound more."""
        at = np.abs(self.bias @ _point(cells.latitude, cells.longitude))
        width = math.sqrt(float(self.shares @ self.widths**2))
        scale = np.hypot(self.sigma, width * at)
        south, east = self._slopes(self.difference, cells)
        tilt_south, tilt_east = self._slopes(self.bias, cells)
        top, reach = self._linear(self.difference, cells)
        top = np.maximum(top + reach, 1e-300)
        latitude = south / top + (self.middle + width * tilt_south) / scale
        longitude = east / top + width * tilt_east / scale
        return latitude * cells.half_latitude >= longitude * cells.half_longitude

    def _linear(self, vector: Floats, cells: Cells) -> tuple[Floats, Floats]:
        """Return a linear function at the centres, and how far it strays from that.

        Taylor's formula with bounds on the second derivatives over the cell.
        """
        south, east = self._slopes(vector, cells)
        whole, equatorial = np.linalg.norm(vector), np.linalg.norm(vector[1:])
        a, b = cells.half_latitude, cells.half_longitude
        curved = whole * a * a + equatorial * (2.0 * a * b + b * b)
        return vector @ _point(cells.latitude, cells.longitude), south * a + east * b + curved / 2.0

    @staticmethod
    def _slopes(vector: Floats, cells: Cells) -> tuple[Floats, Floats]:
        """Return the sizes of a linear function's derivatives by latitude and longitude."""
        sine, cosine = np.sin(cells.latitude), np.cos(cells.latitude)
        x, y = np.cos(cells.longitude), np.sin(cells.longitude)
        pole, first, second = vector
        by_latitude = pole * cosine - sine * (first * x + second * y)
        by_longitude = cosine * (second * x - first * y)
        return np.abs(by_latitude), np.abs(by_longitude)


def _point(latitude: Floats, longitude: Floats) -> Floats:
    """Return unit vectors in the frame, shape (3, n)."""
    cosine = np.cos(latitude)
    return np.stack([np.sin(latitude), cosine * np.cos(longitude), cosine * np.sin(longitude)])


def _between(middle: Floats, half: Floats) -> Floats:
    """Return the normal probability of ``middle - half`` to ``middle + half``."""
    below = -np.abs(middle)  # on this side of 0 the tails keep their digits
    return ndtr(below + half) - ndtr(below - half)


def _mixture(link: str) -> dict[str, Floats]:
    if link == "logistic":
        widths, shares = logistic_mixture(N_NODES)
        return {"widths": widths, "shares": shares}
    return {"widths": np.array([1.0 if link == "probit" else 0.0]), "shares": np.ones(1)}
