"""The loss of rows that a classifier is certain and wrong about."""

import numpy as np
import pytest
import torch
from scipy.special import expit, log_expit, logsumexp

from fairsmooth import FairSmoothClassifier
from fairsmooth.core.architecture import Network
from fairsmooth.training.likelihood import LinearLikelihood
from fairsmooth.training.margins import MarginLoss

MARGINS = np.array([-300.0, -150.0, -60.0, -25.0, -8.0, -1.0, 3.0])
Z = np.linspace(-40.0, 40.0, 40_001)
WEIGHTS = -0.5 * Z**2 + np.log((Z[1] - Z[0]) / np.sqrt(2 * np.pi))


def exact(margin, scale):
    """Return the loss of the smooth logistic and its slope, by a sum of logarithms."""
    logs = WEIGHTS + log_expit(margin + scale * Z)
    loss = -logsumexp(logs)
    return loss, -np.exp(logs + loss) @ expit(-margin - scale * Z)


@pytest.mark.parametrize("scale", [1e-3, 0.9, 1.9, 2.0, 3.3, 4.6, 7.3])
def test_the_loss_grows_as_that_of_the_logistic_however_wrong_a_row_is(scale):
    margins = torch.from_numpy(MARGINS)
    # At sigma = 1e-4 these lengths give the logit that standard deviation.
    lengths = np.full(len(MARGINS), 1e8 * scale**2 - 1.0)
    loss = MarginLoss.of(lengths, sigma=1e-4, link="logistic")
    value, slope = loss.loss_and_slope(margins, 0, len(MARGINS))
    expected = np.array([exact(margin, scale) for margin in MARGINS])
    np.testing.assert_allclose(value, expected[:, 0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(slope, expected[:, 1], rtol=0, atol=1e-6)
    step = 1e-4
    up, down = (loss.loss_and_slope(margins + s, 0, len(MARGINS))[1] for s in (step, -step))
    bend = loss.bend(margins, 0, len(MARGINS))
    torch.testing.assert_close(bend, (up - down) / (2 * step), rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_autograd_has_the_same_loss_of_wrong_rows(dtype):
    likelihood = LinearLikelihood(Network(1), sigma=0.5, link="logistic")
    rows = likelihood.prepare(torch.ones(1, 1, dtype=dtype))
    loss = MarginLoss.of(np.ones(1), sigma=0.5, link="logistic")
    for weight in (-1.0, -30.0, -400.0):
        W = torch.tensor([weight, 0.0], dtype=dtype, requires_grad=True)
        value = likelihood.log_probability(W, rows, torch.ones(1, dtype=dtype), 0).sum()
        (gradient,) = torch.autograd.grad(value, W)
        own, slope = loss.loss_and_slope(torch.tensor([weight], dtype=torch.float64), 0, 1)
        assert -value.item() == pytest.approx(own.item(), rel=1e-6)
        assert gradient[1].item() == pytest.approx(-slope.item(), rel=1e-5)
        assert own.item() == pytest.approx(exact(weight, 0.5**0.5)[0], abs=1e-6)


def test_next_to_no_noise_trains_what_none_does_beside_a_wrong_label():
    draw = np.random.default_rng(0)
    X, groups = draw.normal(size=(600, 3)), np.arange(600) % 2
    logits = X @ np.array([20.0, -20.0, 10.0])
    y = (logits + draw.logistic(size=600) > 0).astype(int)
    worst = np.abs(logits).argmax()
    y[worst] = 1 - y[worst]
    options = {"tol": 1e-8, "max_iter": 2000, "free_reference": False, "random_state": 0}
    plain, smooth = (
        FairSmoothClassifier(sigma=sigma, **options).fit(X, y, sensitive_features=groups)
        for sigma in (0.0, 1e-6)
    )
    np.testing.assert_allclose(smooth.group_parameters_, plain.group_parameters_, rtol=0, atol=1e-4)
