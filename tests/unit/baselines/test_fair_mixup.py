from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from tests.unit.baselines.fair_mixup_reference import objective

from fairsmooth._random import torch_generator
from fairsmooth.baselines._kit.neural import build_mlp
from fairsmooth.baselines.fair_mixup.classifier import FairMixupClassifier, _is_best
from fairsmooth.data.splits import hold_out
from fairsmooth.exceptions import InputError
from fairsmooth.training.batching import draw_rows


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


def _trained_by_autograd(model, X, y, groups):
    """Train as published, from the same draws; return the gap after every epoch."""
    generator = torch_generator(model._seed(), "fair_mixup")
    n_groups = len(np.unique(groups))
    training, held = hold_out(
        y * n_groups + groups,
        0.25,
        permute=lambda n: torch.randperm(n, generator=generator).numpy(),
        whole=int,
    )
    network = build_mlp((X.shape[1], *model.hidden_layer_sizes, 1), generator=generator)
    optimizer = torch.optim.Adam(network.parameters(), lr=model.learning_rate)
    by_label = model.notion == "equalized_odds"

    def cells(kept):
        rows = [
            [kept[(y[kept] == label) & (groups[kept] == own)] for own in range(n_groups)]
            for label in (0, 1)
        ]
        return rows if by_label else [[np.concatenate(own) for own in zip(*rows, strict=True)]]

    sizes = torch.tensor([[float(len(own)) for own in block] for block in cells(training)])
    pairs = list(combinations(range(n_groups), 2))
    rows, labels = (torch.tensor(each, dtype=torch.float32) for each in (X, y))
    gaps = []
    for _ in range(model.n_epochs):
        for _ in range(model.n_iterations):
            drawn = torch.stack(
                [
                    torch.stack(
                        [
                            draw_rows(torch.from_numpy(own), model.batch_size, generator=generator)
                            for own in block
                        ]
                    )
                    for block in cells(training)
                ]
            )
            positions = torch.rand((len(drawn), len(pairs)), generator=generator)
            optimizer.zero_grad()
            objective(
                network,
                rows[drawn],
                labels[drawn],
                pairs=pairs,
                positions=positions,
                penalty_weight=model.penalty_weight,
                shares=sizes if model.risk == "population" else torch.ones_like(sizes),
            ).backward()
            optimizer.step()
        scores = torch.sigmoid(network(rows)).detach().numpy()[:, 0]
        means = [[scores[own].mean() for own in block] for block in cells(held)]
        gaps.append(sum(max(block) - min(block) for block in means))
    return gaps


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize(
    ("notion", "risk"), [("demographic_parity", "balanced"), ("equalized_odds", "population")]
)
def test_training_follows_automatic_differentiation(notion, risk, few):
    X, y, groups = _data(400, n_groups=3)
    if few:
        X = (X > 0).astype(float)
    model = _small(notion=notion, risk=risk, hidden_layer_sizes=(8, 6), n_iterations=10)
    model.fit(X, y, sensitive_features=groups)
    expected = _trained_by_autograd(model, X, y, groups)
    np.testing.assert_allclose(model.validation_gaps_, expected, atol=1e-4)
    assert np.argmin(model.validation_gaps_[1:]) == np.argmin(expected[1:])


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
