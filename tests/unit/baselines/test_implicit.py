import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from fairsmooth.baselines._kit.neural import build_mlp
from fairsmooth.baselines.implicit.alignment import (
    conjugate_gradient,
    direct,
    head_gradient,
    implicit_gradient,
    with_intercept,
)
from fairsmooth.baselines.implicit.classifier import ImplicitPathAlignmentClassifier
from fairsmooth.exceptions import GroupError, InputError


def _data(n_rows=600, n_groups=2, seed=0):
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=n_rows)
    X = rng.normal(size=(n_rows, 4)) + 0.5 * groups[:, None]
    y = (X[:, 0] + 0.5 * rng.normal(size=n_rows) > 0.3).astype(int)
    return X, y, groups


def _small(**parameters):
    defaults = {"hidden_layer_sizes": (16,), "n_iterations": 30, "batch_size": 100}
    return ImplicitPathAlignmentClassifier(**{**defaults, "random_state": 0, **parameters})


def _instance(n_groups=2):
    generator = torch.Generator().manual_seed(3)
    network = build_mlp(
        (3, 4), "tanh", generator=generator, activate_output=True, dtype=torch.float64
    )
    rows = torch.randn((n_groups, 60, 3), generator=generator, dtype=torch.float64)
    noise = torch.randn((n_groups, 60), generator=generator, dtype=torch.float64)
    tilt = torch.linspace(-1.0, 1.0, n_groups, dtype=torch.float64)[:, None]
    labels = (rows[..., 0] + tilt * rows[..., 1] + noise > 0).to(torch.float64)
    return network, rows, labels


def _optimal_heads(features: Tensor, labels: Tensor) -> Tensor:
    heads = torch.zeros((len(features), features.shape[2]), dtype=torch.float64)
    for _ in range(50):
        scores = torch.sigmoid(torch.einsum("kmw,kw->km", features, heads))
        gradient = head_gradient(features, labels, heads)
        heads = heads - direct(0.0)(features, scores * (1 - scores), gradient)
    assert head_gradient(features, labels, heads).abs().max() < 1e-13
    return heads


def _bilevel_objective(network, rows, labels, kappa: float) -> float:
    with torch.no_grad():
        features = with_intercept(network(rows))
        heads = _optimal_heads(features, labels)
        logits = torch.einsum("kmw,kw->km", features, heads)
        losses = torch.nn.functional.softplus(logits) - labels * logits
        apart = sum(
            (heads[k] - heads[j]).square().sum() for k in range(len(heads)) for j in range(k)
        )
        return float(losses.mean(dim=1).sum() + kappa / 2 * apart)


def _pulled_back(network, features, labels, heads, kappa, solve) -> Tensor:
    """Return the implicit gradient in the parameters of the network, flat."""
    gradient = implicit_gradient(
        features.detach(), labels, heads, alignment_weight=kappa, solve=solve
    )
    pulled = torch.autograd.grad(features, list(network.parameters()), grad_outputs=gradient)
    return torch.cat([each.reshape(-1) for each in pulled])


def test_implicit_gradient_agrees_with_automatic_differentiation():
    network, rows, labels = _instance(3)
    features = with_intercept(network(rows)).detach().requires_grad_()
    generator = torch.Generator().manual_seed(1)
    heads, directions = torch.randn((2, 3, 5), generator=generator, dtype=torch.float64)
    logits = torch.einsum("kmw,kw->km", features, heads)
    losses = torch.nn.functional.softplus(logits) - labels * logits
    corrections = (head_gradient(features, labels, heads) * directions).sum()
    (expected,) = torch.autograd.grad(losses.mean(dim=1).sum() - corrections, features)
    found = implicit_gradient(
        features.detach(), labels, heads, alignment_weight=0.3, solve=lambda *_: directions
    )
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("solve", [direct(0.0), conjugate_gradient(40)])
def test_implicit_gradient_is_the_derivative_of_the_bilevel_objective(n_groups, solve):
    kappa = 0.3
    network, rows, labels = _instance(n_groups)
    features = with_intercept(network(rows))
    heads = _optimal_heads(features.detach(), labels)
    analytic = _pulled_back(network, features, labels, heads, kappa, solve)

    at = parameters_to_vector(network.parameters()).detach()
    numeric = torch.empty_like(at)
    step = 1e-5
    for j in range(len(at)):
        ends = []
        for sign in (1, -1):
            moved = at.clone()
            moved[j] += sign * step
            vector_to_parameters(moved, network.parameters())
            ends.append(_bilevel_objective(network, rows, labels, kappa))
        numeric[j] = (ends[0] - ends[1]) / (2 * step)
    # Conjugate gradients stop at a squared residual of 1e-10.
    assert (analytic - numeric).abs().max() < 1e-4 * numeric.abs().max()
    features = with_intercept(network(rows))
    without = _pulled_back(network, features, labels, heads, 0.0, solve)
    assert (without - numeric).abs().max() > 0.1 * numeric.abs().max()


def test_head_gradient_agrees_with_automatic_differentiation():
    network, rows, labels = _instance(3)
    features = with_intercept(network(rows)).detach()
    heads = torch.randn((3, 5), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    heads.requires_grad_()
    logits = torch.einsum("kmw,kw->km", features, heads)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    (expected,) = torch.autograd.grad(loss.mean(dim=1).sum(), heads)
    torch.testing.assert_close(head_gradient(features, labels, heads.detach()), expected)


def test_conjugate_gradients_stand_still_on_solved_groups():
    features = torch.randn((2, 50, 3), generator=torch.Generator().manual_seed(0))
    right = torch.stack([torch.zeros(3), torch.ones(3)])
    solution = conjugate_gradient(20)(features, torch.full((2, 50), 0.2), right)
    assert torch.equal(solution[0], torch.zeros(3))
    expected = direct(0.0)(features, torch.full((2, 50), 0.2), right)
    torch.testing.assert_close(solution[1], expected[1], rtol=1e-3, atol=1e-3)


def test_descending_the_implicit_gradient_brings_the_optimal_heads_together():
    network, rows, labels = _instance()
    distances, objectives = [], []
    for _ in range(30):
        features = with_intercept(network(rows))
        heads = _optimal_heads(features.detach(), labels)
        distances.append(float((heads[0] - heads[1]).norm()))
        objectives.append(_bilevel_objective(network, rows, labels, 0.3))
        network.zero_grad()
        features.backward(
            implicit_gradient(
                features.detach(), labels, heads, alignment_weight=0.3, solve=direct(0.0)
            )
        )
        with torch.no_grad():
            for weight in network.parameters():
                weight -= 0.02 * weight.grad
    assert np.all(np.diff(objectives) < 0)
    assert distances[-1] < 0.8 * distances[0]


def test_learns_and_repeats_itself():
    X, y, groups = _data()
    model = _small(n_iterations=50, learning_rate=5e-3).fit(X, y, sensitive_features=groups)
    again = clone(model).fit(X, y, sensitive_features=groups)
    other = clone(model).set_params(random_state=1).fit(X, y, sensitive_features=groups)
    assert model.score(X, y) > 0.75
    np.testing.assert_array_equal(model.heads_, again.heads_)
    assert np.abs(model.heads_ - other.heads_).max() > 0.01


def test_own_head_when_the_group_is_given_else_the_mean_head():
    X, y, groups = _data(n_groups=5)
    names = np.array([f"g{k}" for k in groups])
    model = _small().fit(pd.DataFrame(X), np.where(y, "yes", "no"), sensitive_features=names)
    X_frame = pd.DataFrame(X)
    features = model.network_(torch.tensor(X)).numpy()
    logits = np.column_stack([features, np.ones(len(X))]) @ model.heads_.T
    own = 1 / (1 + np.exp(-logits[np.arange(len(X)), groups]))
    mean = 1 / (1 + np.exp(-logits.mean(axis=1)))
    given = model.predict_proba(X_frame, sensitive_features=names)
    np.testing.assert_allclose(given[:, 1], own, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X_frame)[:, 1], mean, atol=1e-12)
    expected = np.where(given[:, 1] > 0.5, "yes", "no")
    np.testing.assert_array_equal(model.predict(X_frame, sensitive_features=names), expected)
    model.set_params(head="mean")
    np.testing.assert_array_equal(
        model.predict_proba(X_frame, sensitive_features=names), model.predict_proba(X_frame)
    )


def test_unknown_group_at_prediction():
    X, y, groups = _data()
    model = _small(n_iterations=2).fit(X, y, sensitive_features=groups)
    with pytest.raises(GroupError, match=r"Expected sensitive_features among the groups"):
        model.predict(X, sensitive_features=groups + 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"head": "own"}, r"Expected head to be one of 'group', 'mean', got head='own'"),
        ({"solver": "lu"}, r"Expected solver to be one of 'conjugate_gradient', 'direct'"),
        ({"alignment_weight": -1.0}, r"Expected alignment_weight >= 0, got alignment_weight=-1.0"),
        ({"n_iterations": 0}, r"Expected n_iterations > 0, got n_iterations=0"),
    ],
)
def test_parameters_are_checked(parameters, message):
    X, y, groups = _data(60)
    with pytest.raises(InputError, match=message):
        _small(**parameters).fit(X, y, sensitive_features=groups)
