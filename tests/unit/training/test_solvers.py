import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairsmooth import FairSmoothClassifier
from fairsmooth._random import torch_generator
from fairsmooth.core.architecture import Network
from fairsmooth.core.objective import disparity_gradient
from fairsmooth.training import solvers
from fairsmooth.training.batching import draw_rows
from fairsmooth.training.lbfgs import _Scales
from fairsmooth.training.likelihood import LinearLikelihood
from fairsmooth.training.problem import Problem
from fairsmooth.training.stochastic import Schedule, solve_stochastic
from fairsmooth.training.threshold import choose_threshold


def linear_problem(**options):
    likelihood = LinearLikelihood(Network(2), sigma=0.5, link="probit")
    return Problem(likelihood, **{"alpha": 0.3, "weight_decay": 0.0, **options})


def two_groups(n=8, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = [torch.randn(n, 2, dtype=torch.float64, generator=generator) for _ in range(2)]
    y = [torch.randint(0, 2, (n,), generator=generator).double() for _ in range(2)]
    return X, y


def test_one_step_of_sgd_is_equation_17():
    problem, (X, y) = linear_problem(), two_groups()
    start = torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    schedule = Schedule(epochs=1, batch_size=16, learning_rate=0.05, seed=7)
    after = solve_stochastic(
        problem, start, X, y, solver="sgd", schedule=schedule, report=lambda step: None
    ).parameters
    generator = torch_generator(7, "epoch", 1)
    expected = start.clone()
    chosen = [draw_rows(torch.arange(8), 8, generator=generator) for _ in range(2)]
    for k, rows in enumerate(chosen):
        w = start[k].clone().requires_grad_()
        prepared = problem.likelihood.prepare(X[k][rows])
        loss = -problem.likelihood.log_probability(w, prepared, y[k][rows], 0).mean()
        (gradient,) = torch.autograd.grad(loss, w)
        expected[k] -= 0.05 * gradient
    expected -= 0.05 * 0.3 * disparity_gradient(start)
    torch.testing.assert_close(after, expected)


def test_early_stopping_returns_the_best_parameters_seen():
    problem, (X, y) = linear_problem(), two_groups()
    losses = iter([3.0, 1.0, 2.0, 2.0, 2.0, 2.0])
    seen = []

    def validation_loss(parameters):
        seen.append(parameters.clone())
        return next(losses)

    schedule = Schedule(epochs=6, batch_size=4, learning_rate=0.1, seed=0, patience=2)
    best = solve_stochastic(
        problem,
        torch.zeros(2, 3, dtype=torch.float64),
        X,
        y,
        solver="adam",
        schedule=schedule,
        report=lambda step: None,
        validation_loss=validation_loss,
    )
    assert len(seen) == best.steps == 4  # two epochs without improvement end it
    assert torch.equal(best.parameters, seen[1])
    assert best.unmet is None


def test_stacked_and_ragged_batches_give_the_same_terms():
    problem, (X, y) = linear_problem(parity="both", parity_weight=1.0), two_groups()
    W = torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    ragged = problem.terms(W, problem.ragged(X, y))
    stacked = problem.terms(W, problem.stack(torch.stack(X), torch.stack(y)))
    torch.testing.assert_close(ragged.objective, stacked.objective)
    torch.testing.assert_close(ragged.losses, stacked.losses)


@given(st.integers(1, 5), st.integers(1, 6), st.floats(0, 10), st.integers(0, 1000))
def test_rescaling_can_be_undone(n_groups, m, alpha, seed):
    generator = torch.Generator().manual_seed(seed)
    W = torch.randn(n_groups, m, dtype=torch.float64, generator=generator)
    root = torch.randn(m, m, dtype=torch.float64, generator=generator)
    matrix = root @ root.T + 0.1 * torch.eye(m, dtype=torch.float64)
    for curvature in (matrix, matrix.diag()):
        scales = _Scales.of(linear_problem(alpha=alpha), curvature, n_groups=n_groups)
        torch.testing.assert_close(scales.point(scales.undo(W)), W)
        # The chain rule: slopes are with respect to what is rescaled.
        direction = torch.randn(n_groups, m, dtype=torch.float64, generator=generator)
        torch.testing.assert_close(
            (scales.slope(direction) * scales.undo(W)).sum(), (direction * W).sum()
        )


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1)), min_size=1, max_size=20))
def test_threshold_is_the_best_of_all(rows):
    scores = np.array([score / 8 for score, _ in rows])
    y = np.array([label for _, label in rows])

    def accuracy(threshold):
        return ((scores > threshold) == y).mean()

    candidates = np.concatenate([np.arange(-1, 18) / 16 + 1 / 32, [0.0, 1.0]])
    best = max(accuracy(t) for t in candidates if 0 <= t <= 1)
    assert accuracy(choose_threshold(scores, y)) >= best - 1e-12


def test_groups_of_few_rows_share_second_derivatives(monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 4))
    y, groups = random.integers(0, 2, 600), random.integers(0, 3, 600)
    found, solve = [], solvers.solve_apart

    def noting(*args, factors, **options):
        found.append(factors.ndim)
        return solve(*args, factors=factors, **options)

    monkeypatch.setattr(solvers, "solve_apart", noting)
    free = []
    # 15 parameters in all: 20 rows to each are 300.
    for least in (20, 41):
        monkeypatch.setattr(solvers, "_LEAST_ROWS", least)
        model = FairSmoothClassifier(tol=1e-9).fit(X, y, sensitive_features=groups)
        free.append(model.free_group_parameters_)
    assert found == [3, 2]
    np.testing.assert_allclose(*free, rtol=0, atol=1e-6)
