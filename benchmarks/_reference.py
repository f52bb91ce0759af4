"""Smooth scores of one-hidden-layer networks by other means than the library's.

The characteristic function again, but written with numpy and scipy alone: ReLU through
Faddeeva's function, tanh and SiLU through Gauss-Legendre panels with hard ends instead of
trapezoid rules with smooth ones, every node up to where the link's own factor is below 1e-14
(no envelope, no extrapolation), and a period far beyond the logit's range. One row at a time.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, wofz

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

END = {"logistic": 10.5, "probit": 8.2}
MOST_EQUAL_STEPS = 40_000
_BENDS = {"tanh": 20.0, "silu": 42.0}


@dataclass(frozen=True)
class Layer:
    """One row's hidden layer: means, common scale, output weights, output bias, noise."""

    activation: str
    mean: Floats
    scale: float
    weight: Floats
    bias: float
    sigma: float

    def factors(self, t: Floats, units: slice) -> Complexes:
        """Return the units' characteristic functions at ``t``, shape (units, len(t))."""
        mean, weight = self.mean[units, None], self.weight[units, None]
        if self.activation == "relu":
            return self._below(mean) + self._above(t, mean, weight, 0.0)
        if self.scale >= 0.5:
            return self._bends(t, mean, weight)
        return self._narrow(t, mean, weight)

    def _below(self, mean: Floats) -> Floats:
        return ndtr(-mean / self.scale)

    def _above(self, t: Floats, mean: Floats, weight: Floats, edge: float) -> Complexes:
        """``E exp(itvy - (σty)²/2)`` over ``y > edge``: a Gaussian integral cut once."""
        s = self.scale
        a = 1.0 + (self.sigma * s * t) ** 2
        z = (edge - (mean + 1j * s**2 * t * weight) / a) / (s * np.sqrt(2.0 / a))
        start = (edge - mean) / s
        at_edge = np.exp(
            -0.5 * start**2 - 0.5 * (self.sigma * t * edge) ** 2 + 1j * t * weight * edge
        )
        flip = z.real < 0
        part = 0.5 * at_edge * wofz(1j * np.where(flip, -z, z)) / np.sqrt(a)
        energy = t**2 * ((self.sigma * mean) ** 2 + (s * weight) ** 2) / (2.0 * a)
        whole = np.exp(-energy + 1j * t * mean * weight / a) / np.sqrt(a)
        return np.where(flip, whole - part, part)

    def _bends(self, t: Floats, mean: Floats, weight: Floats) -> Complexes:
        end = _BENDS[self.activation]
        fastest = float(np.abs(t).max() * np.abs(weight).max())
        # Poles lie above and below 0: panels may grow with the distance from there.
        growing = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 14.0, 20.0, 30.0, 42.0])
        growing = growing[growing <= end]
        base = np.concatenate([-growing[:0:-1], growing])
        y, w = panels(tuple(base), min(self.scale, 6.0 / (0.1 + fastest)))
        density = w * np.exp(-0.5 * ((y - mean) / self.scale) ** 2)
        density /= math.sqrt(2.0 * math.pi) * self.scale
        inner = self._sum(activate(self.activation, y)[None, :], density, t, weight)
        low = ndtr((-end - mean) / self.scale)
        if self.activation == "silu":
            return inner + low + self._above(t, mean, weight, end)
        high = ndtr((mean - end) / self.scale)
        one = np.exp(1j * t * weight - 0.5 * (self.sigma * t) ** 2)
        return inner + high * one + low * np.conj(one) * np.exp(0j)

    def _narrow(self, t: Floats, mean: Floats, weight: Floats) -> Complexes:
        fastest = float(np.abs(t).max() * np.abs(weight).max()) * self.scale
        e, w = panels(tuple(range(-9, 10)), min(1.0, 6.0 / (0.1 + fastest)))
        density = w * np.exp(-0.5 * e**2) / math.sqrt(2.0 * math.pi)
        values = activate(self.activation, mean + self.scale * e)
        return self._sum(values, np.broadcast_to(density, values.shape), t, weight)

    def _sum(self, values: Floats, density: Floats, t: Floats, weight: Floats) -> Complexes:
        out = np.empty((len(weight), len(t)), complex)
        size = None
        for j in range(len(weight)):
            h = values[min(j, len(values) - 1)]
            if size is None or len(values) > 1:
                size = np.exp(np.multiply.outer(-0.5 * (self.sigma * t) ** 2, h**2))
            out[j] = (size * turns(t, weight[j, 0] * h)) @ density[j]
        return out


def turns(t: Floats, frequencies: Floats) -> Complexes:
    """Return ``exp(i t f)``, by few exponentials where ``t`` has equal steps."""
    if len(t) < 64 or np.ptp(np.diff(t)) > 1e-9 * (t[1] - t[0]):
        return np.exp(np.multiply.outer(t, 1j * frequencies))
    early = np.exp(np.multiply.outer(t[:32] - t[0], 1j * frequencies))
    late = np.exp(np.multiply.outer(t[::32], 1j * frequencies))
    return (late[:, None] * early).reshape(len(late) * 32, len(frequencies))[: len(t)]


def activate(activation: str, y: Floats) -> Floats:
    return np.tanh(y) if activation == "tanh" else y * expit(y)


@cache
def panels(base: tuple[float, ...], length: float) -> tuple[Floats, Floats]:
    """Gauss-Legendre with 10 nodes on panels between ``base``, none longer than ``length``."""
    pieces = [
        np.linspace(low, high, math.ceil((high - low) / length) + 1)[:-1]
        for low, high in pairwise(base)
    ]
    return composite(np.append(np.concatenate(pieces), base[-1]), 10)


def composite(edges: Floats, order: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(order)
    half = 0.5 * np.diff(edges)[:, None]
    middle = 0.5 * (edges[1:] + edges[:-1])[:, None]
    return (middle + half * nodes).ravel(), (half * weights).ravel()


def reference_score(layer: Layer, link: str) -> tuple[float, float]:
    """Return the smooth score and how far two resolutions differ."""
    period = logit_range(layer)
    end = min(END[link], 9.0 / layer.sigma)
    n_nodes = math.ceil(end * period / (2.0 * math.pi))
    if n_nodes <= MOST_EQUAL_STEPS:
        step = 2.0 * math.pi / period
        t = step * (np.arange(n_nodes) + 0.5)
        return 0.5 + integral(layer, link, t, np.full(n_nodes, step)), 0.0
    fine, coarse = (
        integral(layer, link, *composite(edges(layer, period, end, ratio), 24))
        for ratio in (2.0**0.125, 2.0**0.25)
    )
    return 0.5 + fine, abs(fine - coarse)


def logit_range(layer: Layer) -> float:
    """Return a range that the logit and the link's noise leave with probability below 1e-13."""
    s, mu, v = layer.scale, layer.mean, layer.weight
    if layer.activation == "tanh":
        centre = np.tanh(mu / np.sqrt(1.0 + 0.5 * np.pi * s**2))
        spread = np.sqrt(np.sum(v**2 + layer.sigma**2))
        return float(abs(v @ centre + layer.bias) + np.abs(v).max() + 9.0 * spread + 45.0)
    r = mu / s
    centre = mu * ndtr(r) + s * np.exp(-0.5 * r**2) / math.sqrt(2.0 * math.pi)
    active = ndtr(r + 3.0)
    square = np.sum(active * (1.25 * v**2 * s**2 + layer.sigma**2 * (np.abs(mu) + s) ** 2))
    slack = 0.3 * np.abs(v).sum() if layer.activation == "silu" else 0.0
    spread = math.sqrt(square + layer.sigma**2)
    return float(abs(v @ centre + layer.bias) + slack + 9.0 * spread + 34.0 * layer.sigma * s + 45)


def edges(layer: Layer, period: float, end: float, ratio: float) -> Floats:
    """Return ends of intervals that grow, but never over many turns of the output bias."""
    points = [0.0, 1.0 / period]
    most = 12.0 / (abs(layer.bias) + 1e-12)
    while points[-1] < end and len(points) < 4000:
        points.append(min(end, points[-1] + min(points[-1] * (ratio - 1.0), most)))
    return np.array(points)


def integral(layer: Layer, link: str, t: Floats, weights: Floats) -> float:
    """Return ``1/π Σ w Im φ(t) κ(t)``, dropping nodes whose product is already below 1e-16."""
    kernel = np.pi / np.sinh(np.pi * t) if link == "logistic" else np.exp(-0.5 * t**2) / t
    kernel = kernel * np.exp(-0.5 * (layer.sigma * t) ** 2) * weights / np.pi
    total = 0.0
    for start in range(0, len(t), 512):
        some = slice(start, start + 512)
        total += _piece(layer, t[some], kernel[some])
    return total


def _piece(layer: Layer, t: Floats, kernel: Floats) -> float:
    product = np.exp(1j * layer.bias * t)
    stops = [*range(0, min(8, len(layer.mean)), 2), *range(8, len(layer.mean), 8)]
    for start, stop in pairwise([*stops, len(layer.mean)]):
        product = product * layer.factors(t, slice(start, stop)).prod(0)
        keep = np.abs(product) * kernel > 1e-16
        t, kernel, product = t[keep], kernel[keep], product[keep]
        if len(t) == 0:
            return 0.0
    return float(np.sum(product.imag * kernel))
