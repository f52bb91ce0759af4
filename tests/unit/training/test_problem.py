import pytest
import torch

from fairsmooth.core.architecture import Network
from fairsmooth.training.likelihood import choose_likelihood
from fairsmooth.training.problem import Problem, weigh_groups


def problem(**parameters):
    likelihood = choose_likelihood(Network(3), sigma=0.5, link="probit", smoothing="auto")
    return Problem(likelihood, alpha=0.3, weight_decay=0.0, **parameters)


def rows(n=7):
    generator = torch.Generator().manual_seed(0)
    X = torch.randn((2, n, 3), generator=generator, dtype=torch.float64)
    y = (torch.rand((2, n), generator=generator) < 0.5).double()
    return X, y, torch.randn((2, 4), generator=generator, dtype=torch.float64)


def test_weights_multiply_the_losses_and_leave_the_tie_alone():
    X, y, parameters = rows()
    weighted = problem(group_weights=(1.5, 0.5))
    for batch in (weighted.stack(X, y), weighted.ragged(tuple(X), tuple(y))):
        plain, ours = problem().terms(parameters, batch), weighted.terms(parameters, batch)
        torch.testing.assert_close(ours.losses, plain.losses)
        moved = 0.5 * plain.losses[0] - 0.5 * plain.losses[1]
        torch.testing.assert_close(ours.objective - plain.objective, moved)


@pytest.mark.parametrize("sizes", [(10, 10), (1, 99), (5, 20, 75)])
def test_shares_make_the_objective_the_mean_over_all_rows(sizes):
    weights = weigh_groups("share", sizes)
    assert sum(weights) == pytest.approx(len(sizes))
    per_row = {round(w / size, 12) for w, size in zip(weights, sizes, strict=True)}
    assert len(per_row) == 1


def test_equal_weights_are_the_paper_s_objective():
    assert weigh_groups("equal", (1, 99)) is None


def test_the_objective_is_losses_tie_and_decay_as_equation_15_adds_them():
    X, y, parameters = rows()
    likelihood = problem().likelihood
    ours = Problem(likelihood, alpha=0.3, weight_decay=0.07)
    terms = ours.terms(parameters, ours.stack(X, y))
    logits = (X @ parameters[:, :3].unsqueeze(-1)).squeeze(-1) + parameters[:, 3:]
    spread = (1.0 + 0.25 * (X.square().sum(-1) + 1.0)).sqrt()
    scores = torch.special.ndtr(logits / spread)
    losses = torch.nn.functional.binary_cross_entropy(scores, y, reduction="none").mean(-1)
    tie = (parameters[0] - parameters[1]).square().sum()
    expected = losses.sum() + 0.3 * tie + 0.07 * parameters.square().sum()
    torch.testing.assert_close(terms.objective, expected)
