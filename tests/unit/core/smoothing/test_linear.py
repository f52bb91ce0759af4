import importlib.util
import math
from itertools import pairwise
from pathlib import Path

import mpmath
import numpy as np
import pytest
import torch

from fairsmooth.core.few_rows import few_linear_scores
from fairsmooth.core.smoothing import smooth_probability
from fairsmooth.core.smoothing.linear import smooth_link
from fairsmooth.core.smoothing.mixtures import COARSE, FINE, Rule, ranges

TOOL = Path(__file__).parents[4] / "tools" / "certify_mixtures.py"


def number(value):
    return torch.tensor(value, dtype=torch.float64)


def certify():
    spec = importlib.util.spec_from_file_location("certify_mixtures", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def truth(mean, scale):
    """The logistic against the normal by a trapezoid fine enough for its nearest pole."""
    step = min(0.05, 0.9 * math.pi / max(scale, 1.0) / 6.0)
    z = np.arange(-9.0, 9.0, step)
    density = np.exp(-0.5 * z**2) * step / math.sqrt(2.0 * math.pi)
    return (1.0 / (1.0 + np.exp(-np.clip(mean[:, None] + scale * z, -700, 700)))) @ density


@pytest.mark.parametrize("rule", [*FINE, *COARSE], ids=lambda rule: f"{rule.n_nodes}-{rule.scale}")
def test_errors_of_all_rules_are_proven_again(rule):
    assert certify().proven_error(rule) <= rule.error


def test_a_rule_with_too_few_normals_is_not_proven():
    assert certify().proven_error(Rule(0.5, 10, 2.5e-10)) > 2.5e-10
    assert certify().least_scale(2, 1e-6) == pytest.approx(5.14)


@pytest.mark.parametrize("rules", [FINE, COARSE], ids=["fine", "coarse"])
def test_proven_errors_hold_where_each_rule_is_weakest(rules):
    mean = np.linspace(-60.0, 60.0, 2401)
    for rule in rules:
        for scale in (rule.scale, 1.001 * rule.scale, 1.3 * rule.scale):
            got = smooth_link(torch.from_numpy(mean), number(scale), "logistic", rules=rules)
            assert np.abs(got.numpy() - truth(mean, scale)).max() <= rule.error + 1e-13


@pytest.mark.parametrize(("mean", "scale"), [(0.7, 0.3), (-3.0, 2.0), (12.0, 9.0), (-40.0, 17.0)])
def test_scores_agree_with_high_precision(mean, scale):
    mpmath.mp.dps = 30
    expected = mpmath.quad(
        lambda z: mpmath.npdf(z) / (1 + mpmath.exp(-mean - scale * z)),
        mpmath.linspace(-12, 12, 49),
    )
    got = smooth_link(number(mean), number(scale), "logistic")
    assert float(got) == pytest.approx(float(expected), abs=2.5e-10)


def test_rows_of_all_scales_have_the_scores_they_have_alone():
    generator = torch.Generator().manual_seed(0)
    scale = 10.0 ** (4.0 * torch.rand(500, generator=generator).double() - 2.0)
    mean = 3.0 * scale * torch.randn(500, generator=generator).double()
    together = smooth_link(mean, scale, "logistic")
    alone = torch.stack([smooth_link(m, s, "logistic") for m, s in zip(mean, scale, strict=True)])
    torch.testing.assert_close(together, alone, atol=1e-15, rtol=0)
    assert (smooth_link(mean.sort()[0], number(2.0), "logistic").diff() >= 0).all()
    torch.testing.assert_close(
        smooth_link(-mean, scale, "logistic"), 1.0 - together, atol=1e-15, rtol=0
    )


def test_gradients_pass_through_rows_of_several_rules():
    mean = torch.tensor([0.3, -2.0, 5.0], dtype=torch.float64, requires_grad=True)
    scale = torch.tensor([0.4, 3.0, 12.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda m, s: smooth_link(m, s, "logistic"), (mean, scale))


def test_few_rows_and_many_have_the_same_scores():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 6)) * 10.0 ** rng.uniform(-2, 2, size=(100, 1))
    weights = rng.normal(size=7)
    few = few_linear_scores(weights, X, sigma=0.4, link="logistic")
    many, interval = smooth_probability((), weights, X, sigma=0.4, return_interval=True)
    np.testing.assert_allclose(few, many, rtol=0, atol=1e-14)
    assert (interval[:, 1] - interval[:, 0] <= 2.1e-9).all()
    assert few_linear_scores(weights, X[:0], sigma=0.4, link="logistic").shape == (0,)


def test_rules_cover_every_scale_once():
    for least, most in ((0.0, 0.0), (0.0, 1e300), (3.29, 3.29), (1.0, 5.0)):
        used = ranges(FINE, least, most)
        assert used[0][1] <= least < used[0][2]
        assert used[-1][1] <= most < used[-1][2]
        assert all(a[2] == b[1] for a, b in pairwise(used))


def test_rows_in_any_memory_give_the_same_scores_and_stay_as_they_were():
    X = np.random.default_rng(0).normal(size=(50, 3))
    before = X.copy()
    X.setflags(write=False)
    frozen = smooth_probability((), np.ones(4), X, sigma=0.5)
    X.setflags(write=True)
    np.testing.assert_array_equal(smooth_probability((), np.ones(4), X, sigma=0.5), frozen)
    np.testing.assert_array_equal(
        smooth_probability((), np.ones(4), X[::-1], sigma=0.5), frozen[::-1]
    )
    np.testing.assert_array_equal(X, before)
