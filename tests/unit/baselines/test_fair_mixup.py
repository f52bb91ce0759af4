import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone

from fairsmooth.baselines._kit.neural import build_mlp
from fairsmooth.baselines.fair_mixup.classifier import FairMixupClassifier, _is_best, path_slopes
from fairsmooth.exceptions import InputError


def _data(n_rows=1200, n_groups=2, seed=0):
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=n_rows)
    X = rng.normal(size=(n_rows, 4))
    X[:, 0] += 1.2 * groups / (n_groups - 1)
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n_rows) > 0.6).astype(int)
    return X, y, groups


def _small(**parameters):
    defaults = {"hidden_layer_sizes": (16,), "batch_size": 100, "n_epochs": 4, "n_iterations": 30}
    learning = {"learning_rate": 0.01, "random_state": 0}
    return FairMixupClassifier(**{**defaults, **learning, **parameters})


def _soft_gap(scores, groups):
    means = [scores[groups == k].mean() for k in np.unique(groups)]
    return max(means) - min(means)


def _paths(n_paths=3):
    generator = torch.Generator().manual_seed(1)
    network = build_mlp((4, 8, 8, 1), generator=generator, dtype=torch.float64)
    ends = torch.randn((2, n_paths, 7, 4), generator=generator, dtype=torch.float64)
    positions = torch.rand(n_paths, generator=generator, dtype=torch.float64)
    return network, ends[0], ends[1], positions


def test_path_slope_is_minus_the_numerical_derivative_along_the_path():
    network, start, end, positions = _paths()

    def mean_probability(t):
        t = t[:, None, None]
        return torch.sigmoid(network(t * start + (1 - t) * end)).mean(dim=(1, 2))

    step = 1e-6
    numeric = (mean_probability(positions + step) - mean_probability(positions - step)) / (2 * step)
    slopes = path_slopes(network, start, end, positions=positions)
    torch.testing.assert_close(slopes, -numeric, rtol=1e-6, atol=1e-8)


def test_path_slopes_integrate_to_the_gap_of_mean_predictions():
    network, start, end, _ = _paths(1)
    nodes, weights = np.polynomial.legendre.leggauss(400)
    positions = torch.tensor((nodes + 1) / 2)
    shape = (400, *start.shape[1:])
    slopes = path_slopes(network, start.expand(shape), end.expand(shape), positions=positions)
    gap = torch.sigmoid(network(end)).mean() - torch.sigmoid(network(start)).mean()
    # ReLUs leave jumps in the slope, so the quadrature is not exact to rounding.
    torch.testing.assert_close(slopes @ torch.tensor(weights / 2), gap, rtol=0.0, atol=1e-3)


def test_penalty_gradient_agrees_with_the_double_backward_pass():
    network, start, end, positions = _paths(1)
    t = positions[:, None, None]
    mixed = (t * start + (1 - t) * end).requires_grad_()
    scores = torch.sigmoid(network(mixed))
    (gradient,) = torch.autograd.grad(scores.sum(), mixed, create_graph=True)
    published = (gradient * (end - start)).sum(dim=-1).mean().abs()
    ours = path_slopes(network, start, end, positions=positions).abs().sum()
    torch.testing.assert_close(ours, published)
    weights = [layer.weight for layer in network if hasattr(layer, "weight")]
    for first, second in zip(
        torch.autograd.grad(ours, weights), torch.autograd.grad(published, weights), strict=True
    ):
        torch.testing.assert_close(first, second)


def test_penalty_adds_labels_and_averages_pairs():
    X, y, groups = _data(n_groups=3)
    model = _small(notion="equalized_odds", n_epochs=1).fit(X, y, sensitive_features=groups)
    model.network_.float()
    rows = torch.randn((2, 3, 9, 4), generator=torch.Generator().manual_seed(0))
    positions = torch.rand((2, 3), generator=torch.Generator().manual_seed(7))
    expected = 0.0
    for label in range(2):
        for pair, (first, second) in enumerate([(0, 1), (0, 2), (1, 2)]):
            slope = path_slopes(
                model.network_,
                rows[label, first],
                rows[label, second],
                positions=positions[label, pair],
            )
            expected += abs(slope.item()) / 3
    # Of the whole network, and of the rest of it behind the first layer's output.
    for network, given in (
        (model.network_, rows),
        (model.network_[1:], model.network_[0](rows)),
    ):
        penalty = model._penalty(network, given, torch.Generator().manual_seed(7))
        assert penalty.item() == pytest.approx(expected, rel=1e-5)


def test_demographic_parity_penalty_closes_the_gap():
    X, y, groups = _data()
    gaps = []
    for weight in (0.0, 5.0):
        model = _small(penalty_weight=weight, selection="last", n_epochs=6)
        model.fit(X, y, sensitive_features=groups)
        gaps.append(_soft_gap(model.predict_proba(X)[:, 1], groups))
        assert model.score(X, y) > 0.7
    assert gaps[1] < gaps[0] / 3


def test_equalized_odds_penalty_closes_the_gap_within_labels():
    X, y, groups = _data()
    X[:, 0] = X[:, 0] + groups
    gaps = []
    for weight in (0.0, 2.0):
        model = _small(
            notion="equalized_odds", penalty_weight=weight, selection="last", n_epochs=6
        ).fit(X, y, sensitive_features=groups)
        scores = model.predict_proba(X)[:, 1]
        gaps.append(sum(_soft_gap(scores[y == c], groups[y == c]) for c in (0, 1)))
    assert gaps[1] < gaps[0] / 2


def test_population_risk_keeps_the_base_rate():
    X, y, groups = _data(2000)
    rare = y == 0
    rare[np.flatnonzero(y)[:200]] = True
    X, y, groups = X[rare], y[rare], groups[rare]
    rates = {
        risk: _small(notion="equalized_odds", penalty_weight=0.0, risk=risk, selection="last")
        .fit(X, y, sensitive_features=groups)
        .predict_proba(X)[:, 1]
        .mean()
        for risk in ("balanced", "population")
    }
    assert abs(rates["population"] - y.mean()) < 0.05
    assert rates["balanced"] > rates["population"] + 0.05


def test_keeps_the_epoch_with_the_smallest_validation_gap_after_the_first():
    assert _is_best([0.1])
    assert _is_best([0.0, 0.5])
    assert _is_best([0.0, 0.5, 0.4])
    assert not _is_best([0.0, 0.4, 0.5])
    X, y, groups = _data()
    model = _small(n_epochs=5).fit(X, y, sensitive_features=groups)
    best = 1 + int(np.argmin(model.validation_gaps_[1:]))
    shorter = clone(model).set_params(n_epochs=best + 1).fit(X, y, sensitive_features=groups)
    np.testing.assert_array_equal(model.predict_proba(X), shorter.predict_proba(X))
    assert shorter.validation_gaps_ == model.validation_gaps_[: best + 1]


@pytest.mark.parametrize("pairs", ["all", "random"])
def test_five_named_groups_small_cells_and_frames(pairs):
    X, y, groups = _data(300, n_groups=5)
    names = np.array([f"g{k}" for k in groups])
    labels = np.where(y, "yes", "no")
    model = _small(pairs=pairs, notion="equalized_odds").fit(
        pd.DataFrame(X), labels, sensitive_features=names
    )
    again = clone(model).fit(pd.DataFrame(X), labels, sensitive_features=names)
    np.testing.assert_array_equal(
        model.predict_proba(pd.DataFrame(X)), again.predict_proba(pd.DataFrame(X))
    )
    assert set(model.predict(pd.DataFrame(X))) == {"yes", "no"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"notion": "parity"}, r"Expected notion to be one of 'demographic_parity', 'equalized"),
        ({"pairs": "one"}, r"Expected pairs to be one of 'all', 'random', got pairs='one'"),
        ({"risk": "mean"}, r"Expected risk to be one of 'balanced', 'population'"),
        ({"selection": "best"}, r"Expected selection to be one of 'gap', 'last'"),
        ({"penalty_weight": -1.0}, r"Expected penalty_weight >= 0, got penalty_weight=-1.0"),
        ({"validation_fraction": 1.0}, r"Expected validation_fraction between 0.0 and 0.9"),
        ({"batch_size": 0}, r"Expected batch_size > 0, got batch_size=0"),
    ],
)
def test_parameters_are_checked(parameters, message):
    X, y, groups = _data(60)
    with pytest.raises(InputError, match=message):
        _small(**parameters).fit(X, y, sensitive_features=groups)
