import numpy as np
import torch
from scipy.special import wofz

from fairsmooth.core.smoothing.faddeeva import complex_product, scaled_erfc


def test_agrees_with_scipy_in_the_whole_half_plane():
    axis = np.concatenate([np.linspace(0.0, 8.0, 81), np.geomspace(8.0, 1e12, 20)])
    real, imag = np.meshgrid(axis, np.concatenate([-axis, axis]))
    expected = wofz(1j * (real + 1j * imag))
    got_re, got_im = scaled_erfc(torch.tensor(real), torch.tensor(imag))
    assert np.abs(got_re.numpy() + 1j * got_im.numpy() - expected).max() < 2e-10


def test_first_and_second_derivatives_match_finite_differences():
    generator = torch.Generator().manual_seed(0)
    real = 3.0 * torch.rand(8, generator=generator, dtype=torch.float64)
    imag = 4.0 * torch.randn(8, generator=generator, dtype=torch.float64)
    inputs = (real.requires_grad_(), imag.requires_grad_())
    assert torch.autograd.gradcheck(scaled_erfc, inputs)
    assert torch.autograd.gradgradcheck(scaled_erfc, inputs)


def test_product_multiplies_any_number_of_factors():
    generator = torch.Generator().manual_seed(1)
    for size in (1, 2, 3, 7, 64):
        re, im = torch.randn(2, size, 5, generator=generator, dtype=torch.float64)
        expected = torch.complex(re, im).prod(0)
        for tracked in (False, True):
            re, im = re.requires_grad_(tracked), im.requires_grad_(tracked)
            got = torch.complex(*complex_product(re, im))
            assert got.requires_grad == tracked
            torch.testing.assert_close(got.detach(), expected)


def test_scores_do_not_depend_on_whether_a_gradient_is_asked_for():
    real, imag = torch.rand(2, 50, generator=torch.Generator().manual_seed(2)).double()
    plain = scaled_erfc(real, imag)
    tracked = scaled_erfc(real.requires_grad_(), imag)
    assert not plain[0].requires_grad
    assert tracked[0].requires_grad
    assert torch.equal(torch.stack(plain), torch.stack(tracked).detach())
