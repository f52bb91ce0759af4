from itertools import pairwise

import numpy as np
import pytest
import torch
from benchmarks._reference import Layer
from scipy.integrate import quad
from scipy.special import erfcx, log_ndtr, wofz
from scipy.stats import norm

from fairsmooth.core.smoothing import rules
from fairsmooth.core.smoothing.column_bounds import log_bounds
from fairsmooth.core.smoothing.grids import fitted_grid, grid_within
from fairsmooth.core.smoothing.inversion import known_decay, last_end
from fairsmooth.core.smoothing.relu import ReluUnits
from fairsmooth.core.smoothing.smooth_units import SmoothUnits
from fairsmooth.core.smoothing.unit_laws import factor_product

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
    return SmoothUnits(mean, scale, weight, sigma, activation)


def factor(units, t):
    if isinstance(units, ReluUnits):
        return [part[0, 0].item() for part in units.characteristic(t)]
    return [part[0, 0, 0].item() for part in units.factors(t)]


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
        re, im = factor(units, torch.tensor([[t]], dtype=torch.float64))
        for got, wave in ((re, np.cos), (im, np.sin)):
            expected = expectation(
                lambda h, wave=wave, t=t: (
                    wave(t * weight * h) * np.exp(-0.5 * (sigma * t * h) ** 2)
                ),
                activation,
                mean,
                scale,
            )
            assert got == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("case", CASES[::2])
def test_variance_agrees_with_adaptive_integration(case):
    mean, scale, weight, sigma = case
    first = expectation(lambda h: h, "relu", mean, scale)
    second = expectation(lambda h: h * h, "relu", mean, scale)
    got = make("relu", *case).variance()
    expected = weight**2 * (second - first**2) + sigma**2 * second
    assert got.item() == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("share", [0.05, 0.4, -0.4])
def test_exponential_moments_are_bounded_and_sharply_so_for_relu(activation, case, share):
    mean, scale, weight, sigma = case
    theta = share / (sigma * scale + 1.0)
    expected = np.log(
        expectation(
            lambda h: np.exp(theta * weight * h + 0.5 * (theta * sigma * h) ** 2),
            activation,
            mean,
            scale,
        )
    )
    got = (
        make(activation, *case)
        .log_exponential_moment(torch.tensor([theta], dtype=torch.float64))
        .item()
    )
    assert got >= expected - 1e-9
    if activation == "relu":
        assert got == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("case", CASES)
def test_envelopes_bound_the_characteristic_function_from_there_on(activation, case):
    units = make(activation, *case)
    points = torch.logspace(-2, 2, 60, dtype=torch.float64)
    sizes = [float(np.hypot(*factor(units, t.reshape(1, 1)))) for t in points]
    envelopes = [units.log_envelope]
    if activation == "relu":
        envelopes.append(units.log_sharp_envelope)
    for envelope in envelopes:
        bounds = torch.cat([envelope(t.reshape(1)) for t in points]).exp()
        assert (bounds.diff() <= 1e-12).all()
        assert (torch.tensor(sizes, dtype=torch.float64) <= bounds + 1e-9).all()


@pytest.mark.parametrize("activation", ["tanh", "silu"])
@pytest.mark.parametrize("scale", [0.249, 0.25, 3.0, 1e5, 1e100])
def test_fixed_nodes_serve_every_scale(activation, scale):
    # 30 standard deviations from 0, and at 0, where half of the law is on either side.
    for mean in (0.0, 0.3 * scale, 30.0 * scale):
        units = make(activation, mean, scale, 2.0, 0.5)
        re, im = factor(units, torch.tensor([[1.0]], dtype=torch.float64))
        assert np.hypot(re, im) <= 1.0 + 1e-9
        if activation == "tanh" and scale > 1e4:
            p = norm.cdf(mean / scale)
            assert re == pytest.approx(np.exp(-0.125) * np.cos(2.0), abs=1e-4)
            assert im == pytest.approx(np.exp(-0.125) * np.sin(2.0) * (2 * p - 1), abs=1e-4)


def test_exponential_moments_stay_upper_bounds_when_factors_underflow():
    units = make("relu", 100.0, 1.0, -50.0, 0.1)
    got = units.log_exponential_moment(torch.tensor([3.0], dtype=torch.float64))
    # At least the contribution of h = 0, which underflows.
    assert got.item() >= norm.logcdf(-100.0)


@pytest.mark.parametrize("ratio", [-30.0, -2.0, 0.0, 3.0, 40.0])
@pytest.mark.parametrize("shift", [-2e9, -2e4, -9e3, -40.0, -1.0])
def test_exponential_moments_are_sharp_far_out_where_exponents_cancel(ratio, shift):
    # E exp(λh) = Φ(-r) + e^(-r²/2) E(-z/√2)/2, z = r + λ, up to noise that is too small to tell.
    units = make("relu", ratio, 1.0, 1.0, 1e-30)
    got = units.log_exponential_moment(torch.tensor([shift - ratio], dtype=torch.float64))
    active = np.log(0.5 * erfcx(-shift / np.sqrt(2.0))) - 0.5 * ratio**2
    expected = np.logaddexp(log_ndtr(-ratio), active)
    assert expected - 1e-7 <= got.item() <= expected + 0.01


@pytest.mark.parametrize("link", ["logistic", "probit", "step"])
@pytest.mark.parametrize("sigma", [0.05, 1.0, 20.0])
def test_what_lies_beyond_the_range_of_relu_units_is_bounded(sigma, link):
    generator = torch.Generator().manual_seed(4)
    mean, weight = torch.randn(2, 12, 1, generator=generator, dtype=torch.float64)
    units = ReluUnits(mean, torch.tensor([2.0 * sigma], dtype=torch.float64), weight, sigma)
    bounds = units.bounds(link, 15.0, 5e-8)
    end = last_end(sigma, link)
    assert bounds.reach.item() <= end
    t = torch.linspace(bounds.reach.item(), min(end, 50.0 * bounds.reach.item()), 4001).double()
    re, im = units.characteristic(t.unsqueeze(1))
    size = torch.hypot(re, im).squeeze(1) * known_decay(t, sigma, link) / t
    assert torch.trapezoid(size, t).item() / np.pi <= bounds.rest.item() <= 0.01


def test_strips_bound_the_activations_as_the_rules_assume():
    x = np.linspace(-60.0, 60.0, 24_001)
    for d in (0.05, 0.3, 0.75, 1.2, 1.5):
        y = x + 1j * d
        assert np.abs(np.imag(y / (1.0 + np.exp(-y)))).max() <= 1.34 * d
        assert np.abs(np.imag(np.tanh(y))).max() <= np.tan(d) + 1e-12


def test_the_scaled_error_function_is_below_its_bound_in_the_half_plane():
    radius, angle = np.meshgrid(np.geomspace(1e-3, 1e6, 200), np.linspace(-0.5, 0.5, 101) * np.pi)
    z = radius * np.exp(1j * angle)
    assert (np.abs(wofz(1j * z)) <= np.minimum(1.0, 2.0 / (np.sqrt(np.pi) * radius)) + 1e-12).all()


@pytest.mark.parametrize("activation", ["tanh", "silu"])
@pytest.mark.parametrize("scale", [0.02, 0.24, 0.25, 1.0, 40.0])
@pytest.mark.parametrize("frequency", [0.1, 3.0, 40.0])
def test_rules_keep_the_error_they_claim(activation, scale, frequency):
    for mean in (0.0, -1.3, 4.0 * scale):
        units = make(activation, mean, scale, frequency, 0.3)
        got = complex(*factor(units, torch.tensor([[1.0]], dtype=torch.float64)))
        layer = Layer(activation, np.array([mean]), scale, np.array([frequency]), 0.0, 0.3)
        expected = layer.factors(np.array([1.0]), slice(0, 1))[0, 0]
        assert abs(got - expected) <= units.unit_error + 1e-12


@pytest.mark.parametrize("activation", ["tanh", "silu"])
@pytest.mark.parametrize("scale", [0.02, 0.24, 0.25, 1.0, 5.0, 40.0, 1e4])
@pytest.mark.parametrize("frequency", [0.1, 3.0, 40.0])
def test_shared_nodes_keep_the_error_they_claim(activation, scale, frequency):
    # Means near 0, where the unit bends, at both saturations, and far beyond any grid.
    means = np.array([[0.0, -1.3, 4.0 * scale, -30.0 * scale, 5.0, -20.0, 300.0]])
    scales = scale * np.linspace(1.0, 1.4, means.shape[1])
    weight = np.array([[frequency]])
    units = SmoothUnits(*map(torch.from_numpy, (means, scales, weight)), 0.3, activation)
    t = torch.tensor([[0.2], [1.0]], dtype=torch.float64)
    demand = rules.Demand(activation, frequency, 0.3)
    grid = fitted_grid(demand, units.mean, units.scale)
    if len(grid.fine) > 20_000:
        pytest.skip("no table is made for so many nodes")
    re, im = factor_product(units, t, grid)
    for row, (mean, own) in enumerate(zip(means[0], scales, strict=True)):
        layer = Layer(activation, np.array([mean]), own, weight[0], 0.0, 0.3)
        expected = layer.factors(t[:, 0].numpy(), slice(0, 1))[0]
        got = re[:, row].numpy() + 1j * im[:, row].numpy()
        assert np.abs(got - expected).max() <= units.unit_error + 1e-12


@pytest.mark.parametrize("scale", [0.05, 0.3, 2.0, 30.0])
@pytest.mark.parametrize("sigma", [0.05, 1.0])
def test_columns_bound_moments_and_envelopes_and_closely_so(scale, sigma):
    means = torch.tensor([[0.0, 0.7, -3.0, 6.0], [2.0, -0.1, 0.0, 1.0]], dtype=torch.float64)
    scales = torch.full((4,), scale, dtype=torch.float64)
    weight = torch.tensor([[1.5], [-0.4]], dtype=torch.float64)
    theta = torch.tensor([0.2, 1.0, -1.0, 3.0], dtype=torch.float64)
    reach = torch.tensor([0.5, 3.0, 5.0], dtype=torch.float64)
    for activation in ("tanh", "silu"):
        tried = theta if activation == "tanh" else theta[:0]
        units = SmoothUnits(means, scales, weight, sigma, activation)
        moments, envelopes = log_bounds(units, tried, reach)
        for row in range(4):
            pairs = [(means[j, row].item(), weight[j, 0].item()) for j in range(2)]
            for got, angle in zip(moments[:, row].tolist(), tried.tolist(), strict=True):
                true = sum(
                    np.log(
                        expectation(
                            lambda h, v=v, angle=angle: np.exp(
                                angle * v * h + 0.5 * (angle * sigma * h) ** 2
                            ),
                            activation,
                            mean,
                            scale,
                        )
                    )
                    for mean, v in pairs
                )
                assert true - 1e-9 <= got <= true + 1e-3
            for got, end in zip(envelopes[:-1, row].tolist(), reach[:-1].tolist(), strict=True):
                true = sum(
                    np.log(
                        expectation(
                            lambda h, end=end: np.exp(-0.5 * (sigma * end * h) ** 2),
                            activation,
                            mean,
                            scale,
                        )
                    )
                    for mean, _ in pairs
                )
                assert true - 1e-9 <= got
                # Of each of two units, 3e-5 for the rule and 2e-5 for single precision.
                assert np.exp(got) <= np.exp(true) + 1.1e-4
        assert (envelopes[-1] == envelopes[-2]).all()


@pytest.mark.parametrize("n_units", [1, 64])
@pytest.mark.parametrize("spread", [0.3, 3.0, 20.0])
def test_single_precision_bounds_like_double_and_never_below(n_units, spread, monkeypatch):
    random = np.random.default_rng(5)
    scale = torch.tensor(random.uniform(0.8, 1.3, 50))
    means = torch.tensor(random.uniform(-spread, spread, (n_units, 50))) + 0.7
    weight = torch.tensor(random.uniform(-1.0, 1.0, (n_units, 1)))
    reach = torch.tensor([0.3, 1.0, 3.0, 8.0], dtype=torch.float64)
    for activation, theta in (("tanh", torch.tensor([0.5, -1.0]).double()), ("silu", reach[:0])):
        units = SmoothUnits(means, scale, weight, 0.7, activation)
        single = torch.cat(log_bounds(units, theta, reach))
        with monkeypatch.context() as patch:
            patch.setattr("fairsmooth.core.smoothing.column_bounds._NEAR", 0.0)
            double = torch.cat(log_bounds(units, theta, reach))
        if spread != 3.0:  # in between, one of the two has few enough points
            assert torch.equal(single, double) == (spread == 20.0)
        # What is added covers the rounding: it moves bounds up, by little of each factor.
        assert (single >= double).all()
        close = 1e-3 * n_units if activation == "tanh" else np.inf
        assert (single - double)[: len(theta)].max().item() <= close if len(theta) else True
        if n_units == 1:
            assert (single.exp() - double.exp())[len(theta) :].max().item() <= 2e-4


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0, 200.0])
@pytest.mark.parametrize("reach", [0.0, 2.0, 8.0])
def test_interpolated_densities_keep_their_error(scale, reach):
    demand = rules.Demand("silu", 2.0, 0.5)
    mean = torch.linspace(-reach * scale, reach * scale, 41, dtype=torch.float64)
    scales = torch.full_like(mean, scale)
    grid = fitted_grid(demand, mean.unsqueeze(0), scales)
    if grid.interpolation is None:
        assert scale == 0.3
        return
    assert len(grid.points) < len(grid.fine)
    fine = norm.pdf(grid.fine.numpy()[:, None], mean.numpy(), scale)
    few = norm.pdf(grid.points.numpy()[:, None], mean.numpy(), scale)
    error = np.abs(fine - grid.interpolation.numpy() @ few).max()
    largest = 3.0 if grid.ends else 1.0
    assert error * largest * grid.step * len(grid.fine) <= rules.PRECISION


@pytest.mark.parametrize("precision", [1e-4, 1e-7, 1e-11])
@pytest.mark.parametrize("shift", [0.0, 0.37])
def test_cardinal_sines_err_by_no_more_than_they_may(precision, shift):
    # The narrowest law sets the spacing, the widest how far the points go.
    cut = np.sqrt(2.0 * np.log(100.0 / precision))
    mean = torch.tensor([[-2.0, -0.3, 0.0, 1.9]], dtype=torch.float64) + shift
    scale = torch.tensor([0.8, 0.9, 1.2, 0.8], dtype=torch.float64)
    ends = (-np.inf, np.inf)
    grid = grid_within(ends, 0.02, mean, scale, precision=precision, cut=float(cut))
    gaps = np.diff(grid.points.numpy())
    np.testing.assert_allclose(gaps, gaps[0])
    laws = (mean[0].numpy(), scale.numpy())
    fine = norm.pdf(grid.fine.numpy()[:, None], *laws)
    found = grid.interpolation.numpy() @ norm.pdf(grid.points.numpy()[:, None], *laws)
    assert grid.step * np.abs(fine - found).sum(0).max() <= precision
