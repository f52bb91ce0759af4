import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.special import wofz
from scipy.stats import norm

from fairsmooth.core.architecture import Network
from fairsmooth.core.smoothing import hidden, relu_series, smooth_network, smooth_probability
from fairsmooth.core.smoothing.chernoff import rising_ends
from fairsmooth.core.smoothing.faddeeva import fine_scaled_erfc
from fairsmooth.core.smoothing.plan import Accuracy
from fairsmooth.core.smoothing.relu import ReluUnits
from fairsmooth.core.smoothing.relu_series import ReluSeries
from fairsmooth.core.smoothing.series import fitted_spans, least_degree
from fairsmooth.core.smoothing.series_rows import MANY_ROWS, series_of_rows

N_UNITS, N_ROWS = 9, 1100


def relu_units(spread, sigma, *, weight=1.0, seed=0, scale=2.0):
    """Units whose ratios of mean to scale reach to ``spread`` on either side."""
    generator = torch.Generator().manual_seed(seed)
    ratio = spread * (2.0 * torch.rand(N_UNITS, N_ROWS, generator=generator).double() - 1.0)
    scales = scale * (1.0 + 0.2 * torch.rand(N_ROWS, generator=generator).double())
    weights = weight * torch.randn(N_UNITS, 1, generator=generator).double()
    return ReluUnits(ratio * scales, scales, weights, sigma)


def exact_factors(units, theta):
    """All factors at ``s·t = theta`` by Faddeeva's function alone, shape (J, B, R)."""
    r = (units.mean / units.scale).numpy()[:, None, :]
    v, t = units.weight.numpy()[:, :, None], theta.numpy()[None, :, None]
    a = 1.0 + (units.sigma * t) ** 2
    z = -(r + 1j * t * v) / np.sqrt(2.0 * a)
    right = np.where(z.real < 0, -z, z)
    value = wofz(1j * right)
    mirrored = 2.0 * np.exp(z**2 - 0.5 * r**2) - np.exp(-0.5 * r**2) * value
    edge = np.where(z.real < 0, mirrored, np.exp(-0.5 * r**2) * value)
    return norm.cdf(-r) + 0.5 * edge / np.sqrt(a)


@pytest.mark.parametrize("spread", [0.05, 1.0, 4.0, 7.0])
@pytest.mark.parametrize(("sigma", "weight"), [(0.05, 20.0), (0.5, 1.0), (3.0, 0.1)])
def test_products_of_series_err_by_less_than_they_claim(spread, sigma, weight):
    units = relu_units(spread, sigma, weight=weight)
    series = ReluSeries.fitted(units)
    theta = torch.linspace(0.01, 8.0, 17).double()
    got = torch.complex(*series.characteristic(theta)).numpy()
    expected = exact_factors(units, theta).prod(0)
    assert series.unit_error < 3e-11
    assert np.abs(got - expected).max() <= N_UNITS * series.unit_error


def test_a_unit_that_is_surely_off_adds_nothing():
    units = relu_units(1.0, 0.5)
    units = ReluUnits(units.mean - 60.0 * units.scale, units.scale, units.weight, units.sigma)
    re, im = ReluSeries.fitted(units).characteristic(torch.ones(1).double())
    assert float((re - 1.0).abs().max()) < 1e-10
    assert float(im.abs().max()) < 1e-10


def test_ratios_too_far_apart_have_no_series():
    assert ReluSeries.fitted(relu_units(30.0, 0.5)) is None


def test_the_degree_grows_with_the_interval_and_the_precision():
    half = torch.tensor([[0.3], [2.0]]).double()
    assert least_degree(half, 1e-6) < least_degree(half, 1e-11) < least_degree(3.0 * half, 1e-11)


def test_a_series_of_low_degree_misses_no_more_than_the_ellipses_allow():
    # A wave, as it is after smoothing by a standard normal: at most 1, and analytic.
    ratio = torch.linspace(-2.0, 2.0, 301).double().unsqueeze(0)
    for frequency in (0.5, 2.0, 4.0, 8.0):
        damped = np.exp(-0.5 * frequency**2)
        for precision in (1e-2, 1e-4, 1e-8):
            spans = fitted_spans(ratio, precision, 64)
            values = damped * torch.cos(frequency * spans.points()).unsqueeze(1)
            got = torch.bmm(spans.coefficients(values), spans.polynomials(ratio))[0, 0]
            error = (got - damped * torch.cos(frequency * ratio[0])).abs().max()
            assert float(error) <= precision + 1e-14


@pytest.mark.parametrize("link", ["logistic", "probit", "step"])
@pytest.mark.parametrize(("spread", "sigma"), [(0.2, 1.0), (2.0, 0.1), (6.0, 0.4)])
def test_moments_and_envelopes_are_bounds_and_close(link, spread, sigma):
    units = relu_units(spread, sigma)
    series = ReluSeries.fitted(units)
    bounds = series.bounds(link, 15.0, 5e-8)
    up, down = (
        torch.stack([_log_moments(units, sign * theta) for theta in bounds.theta])
        for sign in (1.0, -1.0)
    )
    assert bool((bounds.log_moment_up >= up - 1e-12).all())
    assert bool((bounds.log_moment_down >= down - 1e-12).all())
    most = torch.maximum(bounds.log_moment_up, bounds.log_moment_down)
    period, exact = (
        ((15.0 + value) / bounds.theta).amin(0) for value in (most, torch.maximum(up, down))
    )
    assert float((period / exact).median()) < 1.02
    ends = rising_ends(torch.ones(3).double(), sigma, link, 5e-8, count=4) * 2.0
    envelope = series._log_bounds(torch.ones(1).double() * 0.1, ends)[2]
    for k, end in enumerate(ends):
        exact = units.log_envelope(end / units.scale)
        assert bool((envelope[k] >= exact - 1e-12).all())
        assert float((envelope[k] - exact).max()) < 1e-2


def _log_moments(units, theta):
    """Independent of the series: the same closed form for every row."""
    ratio, tilt = units.mean / units.scale, theta * units.scale * units.weight
    square = (theta * units.scale * units.sigma).square()
    return relu_series._moments(ratio, tilt, square).log().sum(0)


@pytest.mark.parametrize(("ratio", "tilt", "square"), [(-3.0, 1.5, 0.3), (2.0, -6.0, 0.5)])
def test_the_closed_forms_agree_with_quadrature(ratio, tilt, square):
    values = torch.tensor([ratio, tilt, square]).double()

    def expectation(f):
        rest = quad(lambda h: f(h) * norm.pdf(h - ratio), 0.0, 40.0, points=[1.0, 5.0])[0]
        return norm.cdf(-ratio) + rest

    moment = expectation(lambda h: np.exp(tilt * h + 0.5 * square * h**2))
    assert float(relu_series._moments(*values)) == pytest.approx(moment, rel=1e-8)
    envelope = expectation(lambda h: np.exp(-0.5 * square * h**2))
    assert float(relu_series._envelopes(values[0], values[2])) == pytest.approx(envelope, rel=1e-8)


def problem(seed, *, n_units=24, n_inputs=6):
    generator = torch.Generator().manual_seed(seed)
    network = Network(n_inputs, (n_units,))
    parameters = torch.randn(network.n_parameters, generator=generator).double()
    X = torch.randn(N_ROWS + 100, n_inputs, generator=generator).double()
    # Some rows of other scales, which share nothing.
    X[::40] *= 10.0 ** torch.linspace(-5, 5, len(X[::40])).double().unsqueeze(1)
    return network, parameters, X


@pytest.mark.parametrize("link", ["logistic", "probit", "step"])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0])
def test_rows_in_company_score_as_they_do_alone(link, sigma):
    network, parameters, X = problem(3)
    units, _, _ = hidden._units(network, parameters, X, sigma)
    served = sum(len(rows) for rows, _ in series_of_rows(units, Accuracy()))
    assert 256 <= served < len(X)
    options = {"sigma": sigma, "link": link, "return_interval": True}
    together, interval = smooth_probability(network, parameters, X, **options)
    alone, own = smooth_probability(network, parameters, X, chunk_rows=MANY_ROWS // 2, **options)
    assert bool((interval[:, 0] <= own[:, 1]).all())
    assert bool((own[:, 0] <= interval[:, 1]).all())
    assert float((interval[:, 1] - interval[:, 0]).max()) <= 1e-6
    assert float((together - alone).abs().max()) < 5e-7


def test_few_rows_few_units_and_gradients_are_left_to_the_direct_way():
    few, small, usual = relu_units(1.0, 0.5), relu_units(1.0, 0.5), relu_units(1.0, 0.5)
    assert len(series_of_rows(usual, Accuracy())) > 0
    assert series_of_rows(few.narrow(0, MANY_ROWS - 1), Accuracy()) == []
    one = ReluUnits(small.mean[:1], small.scale, small.weight[:1], small.sigma)
    assert series_of_rows(one, Accuracy()) == []
    assert series_of_rows(usual, Accuracy(finer=10.0)) == []
    with_gradient = ReluUnits(usual.mean, usual.scale, usual.weight.requires_grad_(), usual.sigma)
    assert series_of_rows(with_gradient, Accuracy()) == []
    with torch.enable_grad():
        assert hidden._by_scale(
            with_gradient, torch.zeros(N_ROWS).double(), "logistic", Accuracy()
        )[0].requires_grad


def test_the_gradient_of_many_rows_is_that_of_few():
    network, generator = Network(3, (N_UNITS,)), torch.Generator().manual_seed(6)
    w = torch.randn(network.n_parameters, generator=generator).double().requires_grad_()
    rows = torch.randn(MANY_ROWS + 200, 3, generator=generator).double()

    def gradient(some):
        score = smooth_network(network, w, some, sigma=0.5, link="logistic")
        return torch.autograd.grad(score.sum(), w)[0]

    parts = sum(gradient(some) for some in rows.split(MANY_ROWS // 2))
    torch.testing.assert_close(gradient(rows), parts, rtol=1e-6, atol=1e-4)


def test_the_fine_error_function_agrees_with_scipy():
    axis = np.concatenate([np.linspace(0.0, 8.0, 81), np.geomspace(8.0, 1e12, 20)])
    real, imag = np.meshgrid(axis, np.concatenate([-axis, axis]))
    got_re, got_im = fine_scaled_erfc(torch.tensor(real), torch.tensor(imag))
    error = np.abs(got_re.numpy() + 1j * got_im.numpy() - wofz(1j * (real + 1j * imag)))
    assert error.max() < 1e-14
