import itertools

import torch
from hypothesis import given
from hypothesis import strategies as st

from fairsmooth.core.objective import disparity, disparity_gradient, label_log_probability


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6))
def test_disparity_is_the_double_sum(n_groups, m, seed):
    W = torch.randn(n_groups, m, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    pairs = itertools.combinations(W, 2)
    expected = sum(((a - b).square().sum() for a, b in pairs), torch.zeros(()))
    torch.testing.assert_close(disparity(W), expected.double(), rtol=1e-12, atol=1e-12)


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6))
def test_gradient_is_the_tie_of_equation_17(n_groups, m, seed):
    W = torch.randn(n_groups, m, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    printed = 2 * torch.stack([sum(w - v for v in W) for w in W])
    torch.testing.assert_close(disparity_gradient(W), printed)
    W.requires_grad_()
    (automatic,) = torch.autograd.grad(disparity(W), W)
    torch.testing.assert_close(disparity_gradient(W.detach()), automatic)


def test_log_probability_is_finite_where_the_classifier_is_certain_and_wrong():
    scores = torch.tensor([0.0, 1.0, 0.25])
    y = torch.tensor([1.0, 0.0, 0.0])
    log_p = label_log_probability(scores, y)
    assert torch.isfinite(log_p).all()
    torch.testing.assert_close(log_p[2], torch.tensor(0.75).log())
