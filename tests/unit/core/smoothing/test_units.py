from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import norm

from fairsmooth.core.smoothing.quadrature import QuadratureUnits
from fairsmooth.core.smoothing.relu import ReluUnits

ACTIVATIONS = {
    "relu": lambda y: max(y, 0.0),
    "tanh": np.tanh,
    "silu": lambda y: y / (1.0 + np.exp(-y)),
}


def make(activation, mean, scale, weight, sigma):
    mean, weight = (torch.tensor([[v]], dtype=torch.float64) for v in (mean, weight))
    scale = torch.tensor([scale], dtype=torch.float64)
    if activation == "relu":
        return ReluUnits(mean, scale, weight, sigma)
    return QuadratureUnits(mean, scale, weight, sigma, activation)


def expectation(function, activation, mean, scale):
    a = ACTIVATIONS[activation]
    kink = -mean / scale

    def integrand(e):
        return function(a(mean + scale * e)) * norm.pdf(e)

    points = sorted({-10.0, 10.0, *np.linspace(-6, 6, 25), float(np.clip(kink, -9, 9))})
    return sum(
        quad(integrand, low, high, epsabs=1e-13, limit=200)[0] for low, high in pairwise(points)
    )


CASES = [
    (mean, scale, weight, sigma)
    for mean, scale in ((0.0, 0.3), (1.5, 0.7), (-2.0, 1.0), (4.0, 3.0), (-1.0, 8.0), (30.0, 0.1))
    for weight, sigma in ((0.4, 0.3), (-1.5, 0.05))
]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("case", CASES)
def test_characteristic_function_agrees_with_adaptive_integration(activation, case):
    mean, scale, weight, sigma = case
    units = make(activation, *case)
    for t in (0.05, 0.8):
        re, im = units.characteristic(torch.tensor([[t]], dtype=torch.float64))
        for got, wave in ((re, np.cos), (im, np.sin)):
            expected = expectation(
                lambda h, wave=wave, t=t: (
                    wave(t * weight * h) * np.exp(-0.5 * (sigma * t * h) ** 2)
                ),
                activation,
                mean,
                scale,
            )
            assert got.item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("case", CASES[::2])
def test_moments_agree_with_adaptive_integration(activation, case):
    mean, scale, weight, sigma = case
    first = expectation(lambda h: h, activation, mean, scale)
    second = expectation(lambda h: h * h, activation, mean, scale)
    got_mean, got_variance = make(activation, *case).moments()
    assert got_mean.item() == pytest.approx(weight * first, rel=1e-8, abs=1e-9)
    expected = weight**2 * (second - first**2) + sigma**2 * second
    assert got_variance.item() == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("case", CASES[::2])
@pytest.mark.parametrize("share", [0.4, -0.4])
def test_exponential_moments_agree_with_adaptive_integration(activation, case, share):
    mean, scale, weight, sigma = case
    theta = share / (sigma * scale + 1.0)
    expected = expectation(
        lambda h: np.exp(theta * weight * h + 0.5 * (theta * sigma * h) ** 2),
        activation,
        mean,
        scale,
    )
    got = make(activation, *case).log_exponential_moment(torch.tensor([theta], dtype=torch.float64))
    assert got.item() == pytest.approx(np.log(expected), abs=1e-7)


def test_exponential_moments_stay_upper_bounds_when_factors_underflow():
    units = make("relu", 100.0, 1.0, -50.0, 0.1)
    got = units.log_exponential_moment(torch.tensor([3.0], dtype=torch.float64))
    # At least the contribution of h = 0, which underflows.
    assert got.item() >= norm.logcdf(-100.0)
