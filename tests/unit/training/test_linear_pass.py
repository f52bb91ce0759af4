"""The pass without autograd against autograd, finite differences and sums of parts."""

import numpy as np
import pytest
import torch

from fairsmooth.core.architecture import Network
from fairsmooth.core.rows import DenseRows
from fairsmooth.training.grouped import GroupedRows
from fairsmooth.training.likelihood import LinearLikelihood
from fairsmooth.training.linear_pass import LinearPass
from fairsmooth.training.margins import MarginLoss
from fairsmooth.training.objective import LinearObjective, away_from_zero, linear_curvature
from fairsmooth.training.problem import Problem

WAYS = [("logistic", 0.7), ("probit", 0.7), ("logistic", 0.0), ("probit", 0.0)]


def example(n=60, d=4, n_groups=3, seed=0, indicators=False):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    if indicators:
        X = (X > 0).astype(float)
    y, groups = random.integers(0, 2, n), random.permutation(np.arange(n) % n_groups)
    return X, y, groups, random.uniform(0.1, 2.0, n), random.normal(size=(n_groups, d + 1))


def grouped(X, y, groups, weights=None):
    by_group = [np.flatnonzero(groups == k) for k in range(groups.max() + 1)]
    return GroupedRows.of(DenseRows(X), y, by_group, weights)


def by_autograd(X, y, groups, weights, W, *, link, sigma, **options):
    likelihood = LinearLikelihood(Network(X.shape[1]), sigma=sigma, link=link)
    problem = Problem(likelihood, **options)
    parts = [groups == k for k in range(len(W))]
    scaled = None
    if weights is not None:
        scaled = [torch.tensor(weights[p] / weights[p].mean()) for p in parts]
    batch = problem.ragged(
        [torch.tensor(X[p]) for p in parts], [torch.tensor(y[p]).double() for p in parts], scaled
    )
    point = torch.tensor(W).requires_grad_()
    terms = problem.terms(point, batch)
    return problem, terms, torch.autograd.grad(terms.objective, point)[0]


@pytest.mark.parametrize(("link", "sigma"), WAYS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("indicators", [False, True])
def test_value_and_gradient_are_those_of_autograd(link, sigma, weighted, indicators):
    X, y, groups, weights, W = example(indicators=indicators)
    given = weights if weighted else None
    options = {
        "alpha": 0.3,
        "weight_decay": 0.01,
        "group_weights": (0.5, 1.0, 1.5),
        "parity": "both",
        "parity_weight": 0.4,
        "parity_tolerance": (0.01, 0.02),
    }
    problem, terms, gradient = by_autograd(
        X, y, groups, given, W, link=link, sigma=sigma, **options
    )
    rows = LinearPass(grouped(X, y, groups, given), sigma, link)
    ours, slope = LinearObjective(problem, rows).evaluate(torch.tensor(W))
    torch.testing.assert_close(ours.objective, terms.objective.detach(), rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(ours.losses, terms.losses.detach(), rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(slope, gradient, rtol=1e-10, atol=1e-12)


def test_a_pass_is_the_sum_of_its_parts():
    X, y, groups, weights, W = example()
    whole = LinearPass(grouped(X, y, groups, weights), 0.5, "logistic").contribution(W)
    parts = []
    for some in (slice(0, 25), slice(25, 60)):
        found = [some.start + np.flatnonzero(groups[some] == k) for k in range(3)]
        data = GroupedRows.of(DenseRows(X), y, found, weights)
        parts.append(LinearPass(data, 0.5, "logistic").contribution(W))
    added = parts[0] + parts[1]
    np.testing.assert_allclose(added.losses, whole.losses, rtol=1e-13)
    np.testing.assert_allclose(added.gradient, whole.gradient, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(added.weights, whole.weights, rtol=1e-14)


@pytest.mark.parametrize(("link", "sigma"), WAYS)
@pytest.mark.parametrize("lengths", [np.array([0.0, 1.0, 30.0]), np.full(3, 2.0)])
def test_slope_and_bend_are_derivatives_of_the_loss(link, sigma, lengths):
    loss = MarginLoss.of(lengths, sigma=sigma, link=link)
    margins, step = torch.tensor([-3.0, 0.2, 2.0], dtype=torch.float64), 1e-5
    _, slope = loss.loss_and_slope(margins, 0, 3)
    up, down = (loss.loss_and_slope(margins + s, 0, 3) for s in (step, -step))
    torch.testing.assert_close(slope, (up[0] - down[0]) / (2 * step), rtol=1e-7, atol=1e-9)
    bend = loss.bend(margins, 0, 3)
    torch.testing.assert_close(bend, (up[1] - down[1]) / (2 * step), rtol=1e-6, atol=1e-9)
    up, down = (loss.score_and_slope(margins + s, 0, 3)[0] for s in (step, -step))
    expected = (up - down) / (2 * step)
    torch.testing.assert_close(
        loss.score_and_slope(margins, 0, 3)[1], expected, rtol=1e-7, atol=1e-10
    )


def test_a_margin_whose_score_is_beyond_all_numbers_has_its_loss():
    loss = MarginLoss.of(np.zeros(1), sigma=0.1, link="logistic")
    value, slope = loss.loss_and_slope(torch.tensor([-1e4], dtype=torch.float64), 0, 1)
    assert float(value) == pytest.approx(1e4 - 0.005, abs=1e-8)
    assert float(slope) == -1.0


@pytest.mark.parametrize("weighted", [False, True])
def test_curvatures_are_second_derivatives(weighted):
    X, y, groups, weights, W = example()
    given = weights if weighted else None
    data = grouped(X, y, groups, given)
    rows = LinearPass(data, 0.6, "logistic")
    found = rows.curvatures(W)
    step = 1e-5
    for entry in range(W.shape[1]):
        moved = np.zeros_like(W)
        moved[:, entry] = step
        up, down = rows.contribution(W + moved), rows.contribution(W - moved)
        expected = (up.gradient - down.gradient) / (2 * step) / data.totals[:, None]
        np.testing.assert_allclose(found[:, entry].numpy(), expected, rtol=1e-6, atol=1e-9)
    at_zero = rows.curvatures(np.zeros_like(W)).mean(0)
    torch.testing.assert_close(rows.curvature(), at_zero)
    assert torch.linalg.eigvalsh(away_from_zero(at_zero)).min() > 0


def test_wide_rows_have_a_diagonal_of_mean_squares(monkeypatch):
    X, y, groups, weights, _ = example()
    rows = LinearPass(grouped(X, y, groups, weights), 0.6, "logistic")
    monkeypatch.setattr("fairsmooth.training.objective._MOST_COLUMNS", 3)
    means = [
        np.average(X[groups == k] ** 2, axis=0, weights=weights[groups == k]) for k in range(3)
    ]
    expected = 0.25 * np.append(np.mean(means, axis=0), 1.0)
    np.testing.assert_allclose(linear_curvature(rows).numpy(), expected, rtol=1e-9)


def test_a_sample_is_even_and_has_every_group():
    X = np.arange(1000.0)[:, None]
    groups = np.repeat([0, 1, 2], [900, 97, 3])
    data = grouped(X, np.zeros(1000, dtype=int), groups)
    sample = data.sample(100)
    assert np.bincount(sample.groups).tolist() == [90, 9, 2]
    gaps = np.diff(sample.rows.X[sample.groups == 0, 0])
    assert set(gaps.tolist()) == {10.0}
    assert data.sample(1000) is data
