"""Every group's own problem, all in step."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from fairsmooth import FairSmoothClassifier
from fairsmooth.training.apart import solve_apart


def quadratics(n_groups=3, m=4, seed=0):
    generator = torch.Generator().manual_seed(seed)
    roots = torch.randn(n_groups, m, m, dtype=torch.float64, generator=generator)
    matrices = roots @ roots.mT + 0.1 * torch.eye(m, dtype=torch.float64)
    least = torch.randn(n_groups, m, dtype=torch.float64, generator=generator)

    def evaluate(W):
        away = W - least
        gradient = (matrices @ away.unsqueeze(-1)).squeeze(-1)
        return 0.5 * (gradient * away).sum(-1), gradient

    return evaluate, matrices, least


@pytest.mark.parametrize("kind", ["own", "shared", "diagonal"])
def test_the_least_value_of_every_group_is_found(kind):
    evaluate, matrices, least = quadratics()
    factors = {
        "own": torch.linalg.cholesky(matrices),
        "shared": torch.linalg.cholesky(matrices.mean(0)),
        "diagonal": matrices.mean(0).diag().sqrt(),
    }[kind]
    found = solve_apart(evaluate, torch.zeros_like(least), factors=factors, max_iter=200, tol=1e-9)
    assert found.unmet is None
    torch.testing.assert_close(found.parameters, least, rtol=0, atol=1e-6)
    if kind == "own":
        assert found.steps <= 2


def test_too_few_iterations_are_told():
    evaluate, matrices, least = quadratics()
    factors = matrices.mean(0).diag().sqrt()
    found = solve_apart(evaluate, torch.zeros_like(least), factors=factors, max_iter=2, tol=1e-9)
    assert "after 2 iterations the largest entry of the gradient is" in str(found.unmet)


def test_a_group_that_is_done_does_not_move():
    evaluate, matrices, least = quadratics()
    start = torch.zeros_like(least)
    start[1] = least[1]
    factors = torch.linalg.cholesky(matrices)
    found = solve_apart(evaluate, start, factors=factors, max_iter=50, tol=1e-9)
    assert torch.equal(found.parameters[1], least[1])


@pytest.mark.parametrize("kind", ["own", "shared"])
def test_groups_that_are_done_are_gone_over_no_more(kind):
    evaluate, matrices, least = quadratics(n_groups=8, m=6, seed=3)
    # The more a group is stretched, the longer it takes.
    stretch = torch.logspace(0, 2, 6, dtype=torch.float64).diag_embed()
    factors = torch.linalg.cholesky(matrices + (stretch if kind == "own" else 0.0))
    factors = factors if kind == "own" else factors.mean(0)
    start, asked = torch.zeros_like(least), []
    start[5] = least[5]

    def narrowed(groups):
        asked.append(groups.tolist())

        def some(W):
            assert len(W) == len(groups)
            all_of_them = least.index_copy(0, groups, W)
            value, gradient = evaluate(all_of_them)
            return value[groups], gradient[groups]

        return some

    how = {"factors": factors, "max_iter": 300, "tol": 1e-9}
    found = solve_apart(evaluate, start, narrowed=narrowed, **how)
    plain = solve_apart(evaluate, start, **how)
    assert found.unmet is None
    assert found.steps == plain.steps
    torch.testing.assert_close(found.parameters, plain.parameters, rtol=0, atol=1e-9)
    torch.testing.assert_close(found.parameters, least, rtol=0, atol=1e-6)
    assert asked
    for before, after in pairwise([list(range(8)), *asked]):
        assert set(after) < set(before)
        assert 3 * len(after) <= 2 * len(before)
    # Too few iterations are told, whichever groups were gone over at the end.
    how["tol"] = 1e-6
    how["max_iter"] = solve_apart(evaluate, start, **how).steps - 1
    asked.clear()
    few = solve_apart(evaluate, start, narrowed=narrowed, **how)
    assert asked
    assert f"after {how['max_iter']} iterations" in few.unmet


def test_the_reference_is_each_group_trained_alone(biased):
    """The free parameters of a group are those of a training with alpha = 0."""
    options = {"sigma": 0.5, "tol": 1e-9, "random_state": 0, "weight_decay": 1e-3}
    args = biased.X, biased.y
    for weights in ("equal", "share"):
        tied = FairSmoothClassifier(alpha=1.0, group_weights=weights, **options)
        tied.fit(*args, sensitive_features=biased.sensitive_features)
        apart = FairSmoothClassifier(alpha=0.0, group_weights=weights, **options)
        apart.fit(*args, sensitive_features=biased.sensitive_features)
        np.testing.assert_allclose(
            tied.free_group_parameters_, apart.group_parameters_, rtol=0, atol=1e-6
        )


def test_the_reference_of_a_group_of_few_rows_is_its_own_minimum_whatever_its_weight():
    draw = np.random.default_rng(0)
    X = (draw.random((2000, 60)) < 0.1).astype(float)
    groups = np.repeat(["large", "small"], [1992, 8])
    y = np.where(X @ draw.normal(size=60) + draw.logistic(size=2000) > 0, 1, 0)
    y[-8:] = [0, 1, 0, 1, 1, 0, 1, 0]  # unlike what the tie brings it

    def own_objective(tol):
        clf = FairSmoothClassifier(
            group_weights="share", sigma=0.0, tol=tol, max_iter=5000, random_state=0
        ).fit(X, y, sensitive_features=groups)
        W = clf.free_group_parameters_[clf.groups_.index("small")]
        margins = (2 * y[-8:] - 1) * (X[-8:] @ W[:-1] + W[-1])
        # The group weighs 2 * 8 / 2000 in the objective.
        return np.logaddexp(0, -margins).mean() + 1e-5 / 0.008 * W @ W

    assert own_objective(1e-4) == pytest.approx(own_objective(1e-9), abs=1e-5)
