import numpy as np
import pytest
import torch

from fairsmooth import FairSmoothClassifier
from fairsmooth.core.parameters import CENTERS
from fairsmooth.training.overall import overall_parameters


@pytest.mark.parametrize("shape", [(2, 3), (3, 1), (3, 6), (5, 3), (8, 10), (30, 4)])
@pytest.mark.parametrize("center", ["mean", "ball"])
def test_overall_parameters_are_those_of_prediction_with_their_gradient(shape, center):
    generator = torch.Generator().manual_seed(0)
    W, direction = torch.randn((2, *shape), generator=generator, dtype=torch.float64)
    toward = torch.randn(shape[1], generator=generator, dtype=torch.float64)
    expected = torch.from_numpy(CENTERS[center](W.numpy()))
    torch.testing.assert_close(overall_parameters(W, center), expected, rtol=0.0, atol=1e-4)
    point = W.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(overall_parameters(point, center) @ toward, point)
    ends = [overall_parameters(W + step * direction, center) @ toward for step in (1e-5, -1e-5)]
    expected = (ends[0] - ends[1]) / 2e-5
    torch.testing.assert_close((gradient * direction).sum(), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "points",
    [
        [[1.0, 2.0]] * 3,
        [[0.0, 0.0], [0.0, 0.0], [2.0, 4.0]],
        [[2.0, 2.0], [0.0, 2.0], [1.0, 1.0], [1.0, 3.0], [1.0, 2.0]],
    ],
)
def test_points_that_coincide_or_are_too_many_for_a_sphere_have_a_finite_gradient(points):
    W = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    centre = overall_parameters(W, "ball")
    torch.testing.assert_close(centre.detach(), torch.tensor([1.0, 2.0], dtype=torch.float64))
    (gradient,) = torch.autograd.grad(centre.sum(), W)
    # Moving all points moves the centre.
    torch.testing.assert_close(gradient.sum(0), torch.ones(2, dtype=torch.float64))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::fairsmooth.exceptions.ParityWarning")
@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_the_parity_term_looks_at_the_classifier_that_predicts(solver):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(1000, 3)), rng.integers(0, 5, size=1000)
    last = groups == 4
    X[:, 0] += last
    weights = np.where(last[:, None], [-2.0, 2.0, 1.0], [1.5, 0.0, 1.0])
    y = ((X * weights).sum(1) + rng.logistic(size=1000) > 0.0).astype(int)
    clf = FairSmoothClassifier(
        center="ball", alpha=0.01, sigma=0.3, parity="demographic_parity", parity_weight=30.0,
        solver=solver, learning_rate=0.05, max_iter=60, batch_size=1000, free_reference=False,
        random_state=0,
    )  # fmt: skip
    clf.fit(X, y, sensitive_features=groups)
    assert clf.parity_gaps_.surrogate["demographic_parity"] < 0.1
