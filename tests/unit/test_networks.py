"""FairSmooth beyond linear models: networks, any module, early stopping, the parity extension."""

import numpy as np
import pytest
import torch
from torch import nn

from fairsmooth import FairSmoothClassifier, smooth_probability
from fairsmooth.metrics import demographic_parity_gap

# A few epochs show what these tests are about; they need not end at the minimum.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

QUICK = {"random_state": 0, "max_iter": 8, "batch_size": 64, "free_reference": False}


def fit(data, *arguments, **parameters):
    clf = FairSmoothClassifier(*arguments, **{**QUICK, **parameters})
    return clf.fit(data.X, data.y, sensitive_features=data.sensitive_features)


@pytest.mark.parametrize("activation", ["relu", "tanh", "silu"])
def test_one_hidden_layer_learns_and_is_certified(biased, activation):
    clf = fit(biased, (8,), activation=activation, sigma=0.3)
    assert clf.score(biased.X, biased.y) > 0.7
    overall = clf.predict_proba(biased.X)[:, 1]
    for group in clf.groups_:
        own = clf.predict_proba_group(biased.X, group)[:, 1]
        assert np.abs(overall - own).max() <= clf.certificate_.epsilon_by_group[group] + 1e-7


def test_scores_of_a_network_equal_plain_weight_draws(biased):
    clf = fit(biased, (6,), sigma=0.3)
    X = biased.X.iloc[:10]
    sampled, interval = smooth_probability(
        clf.architecture_, clf.parameters_, X, sigma=0.3, method="monte_carlo",
        n_draws=20_000, return_interval=True, simultaneous=True,
    )  # fmt: skip
    exact = clf.predict_proba(X)[:, 1]
    assert ((interval[:, 0] <= exact) & (exact <= interval[:, 1])).all()
    assert np.abs(sampled - exact).max() < 0.02


@pytest.mark.parametrize("solver", ["adam", "sgd", "lbfgs"])
def test_every_solver_trains_a_network(biased, solver):
    clf = fit(biased, (4,), solver=solver, sigma=0.2)
    assert clf.history_[-1].objective < clf.history_[0].objective
    assert clf.score(biased.X, biased.y) > 0.65


def test_deeper_networks_are_deterministic(biased):
    first, second = (fit(biased, (6, 4), sigma=0.2, n_draws=256, max_iter=3) for _ in range(2))
    np.testing.assert_array_equal(first.parameters_, second.parameters_)
    np.testing.assert_array_equal(first.predict_proba(biased.X), first.predict_proba(biased.X))


def test_exact_and_drawn_losses_lead_to_similar_models(biased):
    drawn = fit(biased, (4,), sigma=0.3, max_iter=15)
    exact = fit(biased, (4,), sigma=0.3, max_iter=15, smoothing="exact")
    agreement = drawn.predict(biased.X) == exact.predict(biased.X)
    assert agreement.mean() > 0.93


def test_groups_start_from_one_point(biased):
    """Hidden units can be permuted: other starts would put the groups far apart."""
    clf = fit(biased, (8,), sigma=0.3, max_iter=1, learning_rate=1e-6)
    assert clf.certificate_.max_distance < 1e-3


def test_any_module_with_batch_norm_and_dropout(biased):
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Linear(5, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Dropout(0.5), nn.Linear(6, 1)
    )
    before = [parameter.clone() for parameter in module.parameters()]
    clf = fit(biased, module=module, sigma=0.1, n_draws=128, learning_rate=0.01)
    assert clf.score(biased.X, biased.y) > 0.65
    assert all(torch.equal(a, b) for a, b in zip(before, module.parameters(), strict=True))
    assert module.training  # the user's module is left as it was
    np.testing.assert_array_equal(clf.predict_proba(biased.X), clf.predict_proba(biased.X))


def test_early_stopping_holds_rows_out_and_stops(biased):
    clf = fit(
        biased, (8,), sigma=0.1, max_iter=200, early_stopping=True, n_iter_no_change=3,
        validation_fraction=0.3, learning_rate=0.05,
    )  # fmt: skip
    assert clf.n_iter_ < 200
    assert clf.score(biased.X, biased.y) > 0.65


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_the_measured_gap_follows_the_parity_weight(three_groups, solver):
    options = {"solver": solver, "link": "probit", "sigma": 0.3, "max_iter": 40, "batch_size": 300}
    gaps = []
    for weight in (0.0, 0.5, 5.0):
        clf = fit(three_groups, parity="demographic_parity", parity_weight=weight, **options)
        decided = clf.predict(three_groups.X)
        gaps.append(
            demographic_parity_gap(
                three_groups.y, decided, sensitive_features=three_groups.sensitive_features
            )
        )
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.5 * gaps[0]


def test_parity_leaves_the_certificate_a_function_of_the_weights(biased):
    from fairsmooth import certify

    clf = fit(biased, parity="both", parity_weight=1.0, max_iter=30)
    again = certify(clf.group_parameters_, sigma=clf.sigma, groups=clf.groups_)
    assert clf.certificate_ == again
